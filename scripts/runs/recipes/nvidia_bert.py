"""NVIDIA's scripts for BERT (NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT)."""

from row import Row

SECOND_PHASE = 512
BIN = 64


def follow(row: Row) -> None:
    """Only these train BERT with LAMB. modeling.py multiplies, normalises and drops out scores one by one. Sequences of
    the second phase are binned by length, 64 tokens a bin, and each batch is cut to its longest (phase2_bin_size;
    NVIDIA/LDDL). Half of Wikipedia's tokens at that length would be padding (Krell et al. 2021, 2107.02027): a batch has
    the other half and half a bin."""
    if row.stack["id"] != "ddp" or row.family != "bert" or row.typed.get("optimizer") != "lamb":
        return
    row.put_if_open("flash_attention", "off")
    if row.count("seq_len") == SECOND_PHASE:
        row.put_if_open("mean_seq_len", SECOND_PHASE // 2 + BIN // 2)
