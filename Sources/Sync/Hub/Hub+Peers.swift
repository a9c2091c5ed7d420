import Journal

// What other hubs of the archive pass on.

extension Hub {
    /// Takes what another hub passes on, as soon as it has it, until the task is cancelled. The archive brings the same
    /// later.
    package func follow(_ peer: any Transport) async {
        // A name for the requests only: a hub writes no changes.
        let name = OriginID(high: entropy() | 1, low: entropy())
        var failures = 0
        while !Task.isCancelled {
            do {
                try await pull(from: peer, as: name)
                failures = 0
            } catch {
                guard !Task.isCancelled else { return }
                failures += 1
                if failures == 1 {
                    logger?.log(.peerFailed, "\(SyncError(wrapping: error))", peer: peer.name)
                }
                // Cancelled: the loop ends.
                try? await clock.sleep(
                    milliseconds: Backoff.delay(failures: failures, entropy: entropy(), limits: limits))
            }
        }
    }

    /// Asks another hub once, which waits for news when it has none.
    ///
    /// - Throws: ``SyncError``: `busy` until the archive is read; those of the peer. What arrived before stays.
    func pull(from peer: any Transport, as name: OriginID, waitSeconds: Int? = nil) async throws {
        guard let archive, isRead else { throw Hub.isReading }
        let generation = generation
        let request = PullRequest(
            cluster: archive.meta.cluster, origin: name, have: log.have,
            waitSeconds: waitSeconds ?? limits.longPollSeconds, maxBytes: limits.bytesPerPull)
        _ = try await peer.pull(request) { [limits] frame in
            let entry = try await blocking {
                do throws(WireError) {
                    return try Pack.Entry(frame, limits: limits)
                } catch {
                    throw SyncError(error)
                }
            }
            try await self.relay(entry, generation)
        }
    }

    /// Passes on a frame that another hub has taken. That one writes it; what does not follow what is here comes by the
    /// archive.
    private func relay(_ entry: Pack.Entry, _ generation: Int) throws(SyncError) {
        try check(generation)
        guard !entry.frame.isKnown(to: log.have), entry.follows(log.have), waitingBytes < limits.hub.waitingBytes else {
            return
        }
        let position = log.append(entry.frame, at: nil)
        relayed.append(Waiting(position: position, entry: entry, time: clock.steadyMilliseconds()))
        waitingBytes += entry.frame.payload.count
        news.tell()
    }

    /// Makes what others have passed on this hub's own to write.
    ///
    /// - Parameter isTheirs: True for what is left to those who took it.
    func adopt(unless isTheirs: (Waiting) -> Bool) {
        let adopted = relayed.filter { !isTheirs($0) }
        guard !adopted.isEmpty else { return }
        relayed.removeAll { !isTheirs($0) }
        waiting = (waiting + adopted).sorted { $0.position < $1.position }
    }

    /// Adopts what the hub that took it has not written for long: that hub is gone, or cannot write.
    func adoptOld() {
        let now = clock.steadyMilliseconds()
        adopt { now - $0.time < limits.hub.takeOverMilliseconds }
    }
}
