from typing import List, Mapping, Optional

version: str

class Catalog:
    @staticmethod
    def shipped() -> Catalog: ...
    def with_overlay(self, path: str) -> Catalog: ...
    @property
    def instances(self) -> List[str]: ...
    @property
    def models(self) -> List[str]: ...
    @property
    def stacks(self) -> List[str]: ...

def plan(catalog: Catalog, arguments: Mapping[str, str], environment_region: Optional[str]) -> str: ...
def check(
    catalog: Catalog,
    text: str,
    name: str,
    kind: Optional[str],
    arguments: Mapping[str, str],
    facts: str,
    ignored: List[str],
    environment_region: Optional[str],
    sarif: bool,
) -> str: ...
def estimate(catalog: Catalog, arguments: Mapping[str, str], environment_region: Optional[str]) -> str: ...
