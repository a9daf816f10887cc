"""Tables that state no vocabulary."""

import model
from row import Row


def follow(row: Row) -> None:
    """Whose model has GPT-2's vocabulary and states none ran it without padding, as long as no tensor ranks cut it: steps
    of VIA-Research/vTrain show products that load rows of 50,257 values (models/machine/compute.cpp)."""
    if not row.cell("vocab") and model.vocabulary(row) == model.GPT2_VOCABULARY and row.count("tp") <= 1:
        row.put_if_open("vocab_multiple", 1)
