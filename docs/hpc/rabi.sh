#!/bin/bash
#SBATCH --job-name=rabi
#SBATCH --qpu=FRESNEL
#SBATCH --ntasks=1
#SBATCH --time=01:00:00
#SBATCH --output=rabi.out
set -euo pipefail
echo "Job ${SLURM_JOB_ID:-without Slurm}: $QRMI_JOB_QPU_RESOURCES ($QRMI_JOB_QPU_TYPES)"
python rabi.py
python sweep.py
