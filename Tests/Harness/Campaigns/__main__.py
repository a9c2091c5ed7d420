"""Campaigns on real processes, real files and real networks: `scripts/campaign NAME [options]`."""

import sys

import campaign
from apps import Apps
from archive_bench import ArchiveBench
from archives import ArchiveTest
from beside import BesideBench
from clones import CloneTest
from copies import CopyTest
from crash import CrashTest
from crash_points import CrashPoints
from disk import DiskFull
from files import FileTest
from lifecycle import LifecycleBench
from network import NetworkTest, Soak
from selftest import SelfTest

KINDS = (
    CrashTest, CrashPoints, FileTest, DiskFull, NetworkTest, CopyTest, CloneTest, ArchiveTest, Apps, BesideBench, LifecycleBench,
    ArchiveBench, Soak, SelfTest,
)
CAMPAIGNS = {kind.name: kind for kind in KINDS}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in CAMPAIGNS:
        print("usage: scripts/campaign NAME [--seed N] [--json] [--keep] …", file=sys.stderr)
        for kind in CAMPAIGNS.values():
            print(f"  {kind.name:14} {kind.about}", file=sys.stderr)
        sys.exit(64)
    sys.exit(campaign.run(CAMPAIGNS[sys.argv[1]]))
