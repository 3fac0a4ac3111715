python -m torch.distributed.launch --nproc_per_node=$GPUS tools/test.py $CONFIG
