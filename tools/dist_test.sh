python -m torch.distributed.launch --nproc_per_node=$GPUS $(dirname "$0")/test.py $CONFIG
