#!/bin/bash
export WANDB_MODE=offline
accelerate launch --config_file fsdp.yaml --num_processes 16 --num_machines 2 \
    examples/scripts/sft.py \
    --model_name_or_path Qwen/Qwen2.5-7B \
    --dataset_name data/answers \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 \
    --max_length 4096 --packing \
    --use_peft --lora_target_modules q_proj v_proj --bf16
