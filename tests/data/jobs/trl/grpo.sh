trl grpo --model_name_or_path Qwen/Qwen2.5-1.5B --dataset_name data/questions --output_dir out \
  --num_generations 8 --max_prompt_length 256 --max_completion_length 1024 --per_device_train_batch_size 8 \
  --use_vllm True --vllm_tensor_parallel_size 2 --vllm_gpu_memory_utilization 0.4
