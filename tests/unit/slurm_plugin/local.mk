# Tests of slurm_plugin/.
check_SCRIPTS += tests/unit/slurm_plugin/symbols.sh
EXTRA_DIST += \
	tests/unit/slurm_plugin/exported.txt \
	tests/unit/slurm_plugin/symbols.sh \
	tests/unit/slurm_plugin/undefined.txt
