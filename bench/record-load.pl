#!/usr/bin/perl
# SPDX-License-Identifier: BSD-3-Clause
# record-load - a trace of real load for bench/forecast: cores in use, a mean for each interval.
#   record-load.pl [--interval=S] [--count=N] [--title=TEXT] >FILE                 of the machine, from /proc/stat
#   record-load.pl [--interval=S] [--count=N] [--title=TEXT] -- CMD ARG... >FILE   of CMD and all that it starts, by its own
#                  control group (root; cgroup v2 or v1's cpuacct), until it ends; what CMD prints goes to stderr
use strict;
use warnings;
use Getopt::Long;
use IO::Handle;
use POSIX qw(sysconf WNOHANG _SC_CLK_TCK);
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);

my ($interval, $count, $title) = (1, 0, '');
GetOptions('interval=f' => \$interval, 'count=i' => \$count, 'title=s' => \$title) or exit 2;
die "record-load: --interval must be above 0\n" if $interval <= 0;

sub slurp {
    my ($path) = @_;
    open my $f, '<', $path or die "record-load: $path: $!\n";
    local $/;
    return scalar <$f>;
}

# Cores' seconds so far: of the machine, time stolen by the hypervisor not in it.
sub machine_s {
    my @t = split ' ', (split /\n/, slurp('/proc/stat'))[0];
    return ($t[1] + $t[2] + $t[3] + $t[6] + $t[7]) / sysconf(_SC_CLK_TCK);
}

my ($group, $version);

sub make_group {
    my %at;
    for (split /\n/, slurp('/proc/mounts')) {
        my (undef, $dir, $type, $options) = split ' ';
        $at{1} //= $dir if $type eq 'cgroup' && ",$options," =~ /,cpuacct,/;
        $at{2} //= $dir if $type eq 'cgroup2';
    }
    $version = $at{1} ? 1 : 2;
    die "record-load: no control group accounts for CPU time here\n" unless $at{$version};
    $group = "$at{$version}/record-load-$$";
    mkdir $group or die "record-load: $group: $!\n";
}

sub group_s {
    return slurp("$group/cpuacct.usage") / 1e9 if $version == 1;
    return slurp("$group/cpu.stat") =~ /^usage_usec (\d+)/m ? $1 / 1e6 : die "record-load: no usage in $group\n";
}

my $child;
if (@ARGV) {
    make_group();
    $child = fork // die "record-load: fork: $!\n";
    if (!$child) {
        open my $f, '>', "$group/cgroup.procs" or die "record-load: $group: $!\n";
        print $f "0\n";
        close $f or die "record-load: $group: $!\n";
        open STDOUT, '>&', \*STDERR;
        exec @ARGV or die "record-load: $ARGV[0]: $!\n";
    }
}
my $used_s = $child ? \&group_s : \&machine_s;

STDOUT->autoflush(1);
print "# $title\n" if $title ne '';
print "# interval_s=$interval cores=", scalar(() = slurp('/proc/stat') =~ /^cpu\d/mg), "\ncpus\n";
my ($then, $before) = (clock_gettime(CLOCK_MONOTONIC), $used_s->());
for (my $i = 1; $count == 0 || $i <= $count; $i++) {
    my $wait = $then + $interval - clock_gettime(CLOCK_MONOTONIC);
    sleep $wait if $wait > 0;
    my ($now, $used) = (clock_gettime(CLOCK_MONOTONIC), $used_s->());
    printf "%.3f\n", ($used - $before) / ($now - $then);
    ($then, $before) = ($now, $used);
    last if $child && waitpid($child, WNOHANG) == $child;
}
if ($group) {
    for (1 .. 50) {
        last if rmdir $group;
        sleep .1;
    }
}
