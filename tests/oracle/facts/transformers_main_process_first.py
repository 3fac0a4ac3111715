"""`TrainingArguments.main_process_first` is one barrier for each rank."""

from transformers import TrainingArguments

from counting import Counted

PROVES = "transformers.toml: TrainingArguments.main_process_first is a barrier"


def check(_rank, _world):
    args = TrainingArguments(output_dir="out", use_cpu=True, report_to=[])
    with Counted() as ops, args.main_process_first():
        pass
    assert ops == ["barrier"], ops
