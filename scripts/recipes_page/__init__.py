"""What docs/recipes.md is made of."""
