torchrun --nproc_per_node=8 --nnode=1 --rdzv_backends c10d train.py
