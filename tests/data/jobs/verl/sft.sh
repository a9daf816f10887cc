torchrun --standalone --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer \
    data.train_files=data/train.parquet \
    data.train_batch_size=64 \
    data.micro_batch_size_per_gpu=4 \
    data.max_length=2048 \
    model.partial_pretrain=Qwen/Qwen2.5-0.5B-Instruct \
    model.strategy=fsdp \
    model.enable_gradient_checkpointing=True \
    model.lora_rank=32 \
    model.target_modules=all-linear \
    ulysses_sequence_parallel_size=1 \
    trainer.total_epochs=2
