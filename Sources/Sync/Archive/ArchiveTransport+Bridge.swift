import Journal
import Synchronization

// Other replicas' changes, which their writers bring; and who brings them when those do not come.

extension ArchiveTransport {
    /// This replica, and those whose changes the archive has lacked for long: the others bring theirs themselves.
    package func wanted(_ ours: VersionVector, of own: OriginID) async -> Set<OriginID>? {
        guard limits.archive.bridgeMilliseconds > 0, let session = state.withLock({ $0.session }) else { return nil }
        // A transaction without its end is as good as missing: nobody takes it.
        let there = await session.reader.known
        let read = await session.reader.readable
        let now = clock.steadyMilliseconds()
        var wanted: Set<OriginID> = [own]
        state.withLock { state in
            for entry in ours.entries where entry.origin != own && entry.version > there[entry.origin] {
                // What was read, no head has told of for so long already.
                let since = read[entry.origin] >= entry.version ? now - limits.archive.activeMilliseconds : now
                var lack = state.lacks[entry.origin] ?? Lack(version: entry.version, since: since)
                if there[entry.origin] >= lack.version { lack = Lack(version: entry.version, since: now) }
                state.lacks[entry.origin] = lack
                if now - lack.since >= patience(own, entry.origin) { wanted.insert(entry.origin) }
            }
            state.lacks = state.lacks.filter { ours[$0.key] > there[$0.key] }
        }
        return wanted
    }

    /// How long this replica leaves changes of `origin` to their writer: longer for some pairs than for others.
    private func patience(_ own: OriginID, _ origin: OriginID) -> Int64 {
        let mix = SHA256.digest(of: own.bytes + origin.bytes).prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let bridge = limits.archive.bridgeMilliseconds
        return bridge + mix % max(1, bridge)
    }
}
