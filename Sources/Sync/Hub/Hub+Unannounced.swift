import Journal

// What a hub that died has written, and not announced.

extension Hub {
    /// Makes such changes this hub's own to write. This hub has found them when it read everything, and serves them. But
    /// who looks at heads only finds no pack that none of them tells of, and no replica pushes what this hub has.
    ///
    /// - Throws: ``SyncError`` of the store; the next call goes on.
    func takeOverUnannounced() async throws {
        guard let archive, isRead else { return }
        let generation = generation
        // Not all hubs at once: what one of them has written, it announces to the others.
        let active = limits.archive.activeMilliseconds
        let patience = await active + active * Int64(archive.writer.stream.number % 4) / 4
        let left = await archive.reader.leftUnannounced(for: patience)
        try check(generation)
        guard !left.isEmpty else { return }
        let positions = log.records.enumerated().compactMap { position, record in
            record.place.flatMap { place in left[place.stream].map { place.sequence > $0 } } == true ? position : nil
        }
        let again = Set(waiting.map(\.position))
        var last: (place: HubLog.Place, pack: Pack)?
        for position in positions where !again.contains(position) {
            let frame = try await load(position, &last)
            let entry = try await blocking { [limits] in
                do throws(WireError) { return try Pack.Entry(frame, limits: limits) } catch { throw SyncError(error) }
            }
            try check(generation)
            waiting.append(
                Waiting(position: position, entry: entry, time: clock.steadyMilliseconds(), isAgain: true))
            waitingBytes += frame.payload.count
        }
        waiting.sort { $0.position < $1.position }
    }
}
