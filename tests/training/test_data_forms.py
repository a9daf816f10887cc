"""Records of each form that `smplan finetune` counts become tokens, and the answer alone counts for the loss."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "planner/export/programs"))
import smplan_data


class Letters:
    """A token a letter; a chat's turns as `role:content;`."""

    eos_token_id = 0

    def __call__(self, text, add_special_tokens):
        return {"input_ids": [ord(letter) for letter in text]}

    def apply_chat_template(self, messages, tokenize, add_generation_prompt):
        return "".join(f"{m['role']}:{m['content']};" for m in messages) + ("assistant:" if add_generation_prompt else "")


def counted(record):
    ids, counts = smplan_data.tokens_of(record, Letters(), "here")
    assert len(ids) == len(counts)
    text = "".join(chr(i) for i in ids)
    return text, "".join(letter for letter, counts in zip(text, counts) if counts)


USER, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}
CHAT = ("user:hi;assistant:yes;", "yes;")


@pytest.mark.parametrize("record, expected", [
    ({"text": "abc"}, ("abc\0", "abc\0")),
    ({"prompt": "ab", "completion": "c"}, ("abc\0", "c\0")),
    ({"instruction": "ab", "input": "", "output": "c"}, ("ab\n\nc\0", "c\0")),
    ({"instruction": "ab", "input": "x", "output": "c"}, ("ab\n\nx\n\nc\0", "c\0")),
    ({"messages": [USER, ANSWER]}, CHAT),
    ({"text": None, "messages": [USER, ANSWER]}, CHAT),
    ({"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "yes"}]}, CHAT),
    ({"prompt": [USER], "completion": [ANSWER]}, CHAT),
    ({"input_ids": [97, 98], "labels": [-100, 98]}, ("ab", "b")),
])
def test_each_form(record, expected):
    assert counted(record) == expected


@pytest.mark.parametrize("record", [{}, {"text": None}, {"question": "a", "answer": "b"}])
def test_other_records_are_refused(record):
    with pytest.raises(SystemExit, match="here: a record has text, messages or conversations"):
        counted(record)
