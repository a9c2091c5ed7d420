import Journal

// Where the streams stand. That saves requests only: what a pack brings is compared with what the replica has.

extension StreamReader {
    /// From where the replica may lack something.
    var reading: ArchiveNotes.Reading {
        let cursors = confirmed.sorted { $0.key < $1.key }
            .map { ArchivedSnapshot.Cursor(stream: StoredStream($0.key), next: $0.value) }
        return ArchiveNotes.Reading(cursors: cursors, brought: StoredVector(brought))
    }

    /// Notes that the replica has everything before the places of the streams, or begins again when it has not: its
    /// file may be one that was restored from a backup.
    ///
    /// - Parameter have: What the replica has, and what it need not be sent.
    func confirm(_ have: VersionVector) {
        guard have.covers(passed) else { return restart() }
        for (id, stream) in streams { confirmed[id] = stream.next }
        brought = passed
    }

    /// Reads all streams from the beginning, but not again and again.
    ///
    /// - Parameter own: The stream that this replica writes; it is not read.
    /// - Returns: False when they were read so lately, or are at their beginning.
    func startOver(own: StreamID?) -> Bool {
        let now = clock.steadyMilliseconds()
        let hasBegun = streams.contains { $0.key != own && $0.value.next > 1 }
        let isDue = lastReset.map { now - $0 >= limits.archive.acknowledgementMilliseconds } ?? true
        guard hasBegun, isDue else { return false }
        lastReset = now
        restart()
        return true
    }

    private func restart() {
        for id in streams.keys { streams[id]?.next = 1 }
        waiting = [:]
        passed = VersionVector()
        confirmed = [:]
        brought = VersionVector()
    }
}
