#!/usr/bin/perl
# SPDX-License-Identifier: BSD-3-Clause
# Turn the numbered SQL migrations into a C table: embed.pl FILE.sql... > migrations.c
# The number in front of the name is the user_version that the migration leads to: 001, 002, 003, ...
use strict;
use warnings;

print "/* Made from schema/ by embed.pl. */\n#include \"lbd/controller/migrations.h\"\n\n";
print "const struct lbd_migration lbd_migrations[] = {\n";
my $expected = 1;
for my $path (sort { ($a =~ m{([^/]+)$})[0] cmp ($b =~ m{([^/]+)$})[0] } @ARGV) {
    my ($name) = $path =~ m{([^/]+)$};
    my ($number) = $name =~ /^(\d{3})-[a-z0-9-]+\.sql$/ or die "embed.pl: $name: call it NNN-name.sql\n";
    die "embed.pl: $name: number $expected expected\n" if $number != $expected++;
    open my $file, '<', $path or die "embed.pl: $path: $!\n";
    print "    {\"$name\",\n";
    while (my $line = <$file>) {
        chomp $line;
        $line =~ s/\s*--.*$//;    # comments are for readers of the file; no string of ours holds two dashes
        next if $line eq '';
        $line =~ s/([\\"])/\\$1/g;
        print "     \"$line\\n\"\n";
    }
    print "    },\n";
}
print "};\n\nconst size_t lbd_migrations_count = ", $expected - 1, ";\n";
