# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For scripts whose programs Open MPI starts on this machine, by mpirun or alone.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# What one machine needs: the others it would open in each process, and find that there is no use for them.
OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_base_warn_component_unused=0
# By itself it asks for munge, and tries for 2.3 s where a munged has gone and left its socket.
PMIX_MCA_psec=native
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_pml OMPI_MCA_btl
export OMPI_MCA_btl_vader_single_copy_mechanism OMPI_MCA_btl_base_warn_component_unused PMIX_MCA_psec
