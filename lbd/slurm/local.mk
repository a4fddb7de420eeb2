# lb-slurm: what of the controller talks to slurmctld, in a process of its own.
pkglibexec_PROGRAMS += lb-slurm
lb_slurm_SOURCES = lbd/slurm/main.c
lb_slurm_CFLAGS = $(LB_CFLAGS)
lb_slurm_LDADD = libpolicy.la -lslurm -lm
dist_man_MANS += docs/man/lb-slurm.8
