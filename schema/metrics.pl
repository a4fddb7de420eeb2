#!/usr/bin/perl
# SPDX-License-Identifier: BSD-3-Clause
# Turn the catalogue of metrics into C: metrics.pl header|table metrics.json > FILE
# Refuses names, units and labels against the conventions, so that a mistake does not get built.
use strict;
use warnings;
use JSON::PP;

my ($what, $path) = @ARGV;
open my $file, '<', $path or die "metrics.pl: $path: $!\n";
my $catalogue = JSON::PP->new->decode(do { local $/; <$file> });
my (%seen, @metrics);
for my $m (@{$catalogue->{metrics}}) {
    my $name = $m->{name};
    die "metrics.pl: $name: twice\n" if $seen{$name}++;
    die "metrics.pl: $name: not a name\n" unless $name =~ /^(?:lbd|lb|process)_[a-z0-9_]+$/;
    die "metrics.pl: $name: type $m->{type}\n" unless $m->{type} =~ /^(?:gauge|counter|histogram)$/;
    die "metrics.pl: $name: a counter ends in _total, and nothing else does\n"
        if ($m->{type} eq 'counter') != ($name =~ /_total$/);
    (my $base = $name) =~ s/_total$//;
    die "metrics.pl: $name: does not end in its unit $m->{unit}\n"
        if $m->{unit} && $base !~ /_\Q$m->{unit}\E$/;
    die "metrics.pl: $name: histograms, and only they, have known buckets\n"
        if ($m->{type} eq 'histogram') != !!($m->{buckets} && $catalogue->{buckets}{$m->{buckets}});
    die "metrics.pl: $name: more than 6 labels\n" if @{$m->{labels}} > 6;
    for (@{$m->{labels}}) {
        die "metrics.pl: $name: label $_\n" if !/^[a-z_]+$/ || /^(?:job|instance|cluster|node|le)$/;
    }
    die "metrics.pl: $name: help is a sentence\n"
        unless $m->{help} =~ /^[A-Z0-9].*\.$/ && $m->{help} !~ /["\\\n]/;
    push @metrics, $m;
}

print "/* Made from schema/metrics.json by metrics.pl. */\n";
if ($what eq 'header') {
    print "#ifndef LBD_METRICS_CATALOGUE_H\n#define LBD_METRICS_CATALOGUE_H\n\nenum lbd_metric {\n";
    print '    LBD_M_', uc($_->{name} =~ s/^lbd_//r), ",\n" for @metrics;
    print "    LBD_METRICS\n};\n\n#endif\n";
} else {
    print "#include \"lbd/metrics/metrics.h\"\n\n#include <stddef.h>\n\n";
    for my $b (sort keys %{$catalogue->{buckets}}) {
        print "static const double buckets_$b\[] = {", join(', ', @{$catalogue->{buckets}{$b}}), "};\n";
    }
    print "\nconst struct lbd_metric_info lbd_metric_info[LBD_METRICS] = {\n";
    for my $m (@metrics) {
        my $n = $m->{buckets} ? scalar @{$catalogue->{buckets}{$m->{buckets}}} : 0;
        printf "    {\"%s\", LBD_TYPE_%s, \"%s\", \"%s\", %d, {%s}, %d, %s},\n", $m->{name}, uc $m->{type},
            $m->{help}, $m->{unit} // '', scalar @{$m->{labels}},
            join(', ', map { "\"$_\"" } @{$m->{labels}}) || 'NULL', $n, $m->{buckets} ? "buckets_$m->{buckets}" : 'NULL';
    }
    print "};\n";
}
