"""The page on accuracy: figures from smplan, plots as SVG, text as Markdown."""
