import Sync

/// A transport over the simulated network. It carries bytes, which the production codec writes and reads.
struct SimulatedTransport: Transport, SnapshotSource {
    let name: String
    let network: Network
    let from: Int
    let to: Int
    let limits: Limits

    func hello(_ hello: Hello) async throws -> Hello {
        try await message(WireHTTP.helloPath, hello)
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply {
        try await message(WireHTTP.digestPath, request)
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        let body = try translated { () throws(WireError) in
            var body: [UInt8] = []
            for frame in frames { body += try frame.encoded() }
            return body
        }
        let answer = try await whole(send(WireHTTP.pushPath, body))
        return try translated { () throws(WireError) in try PushReply(decoding: answer, limits: limits) }
    }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        let body = try translated { () throws(WireError) in try request.encoded() }
        let exchange = send(WireHTTP.pullPath, body, wait: request.waitSeconds)
        defer { exchange.fail(SyncError(.cancelled, "the caller hung up")) }
        var pieces = exchange.answer.makeAsyncIterator()
        try await head(&pieces)
        var answer = PullAnswer(peer: name, limits: limits)
        do {
            while let piece = try await next(&pieces) { try await answer.take(piece, onFrame: onFrame) }
            return try answer.finish()
        } catch let error as SyncError {
            network.failed(error)
            throw error
        }
    }

    // MARK: - Snapshots

    func snapshot() async throws -> SnapshotAnswer {
        let answer = try await whole(send(WireHTTP.snapshotPath, []))
        return try translated { () throws(WireError) in try SnapshotAnswer(jsonBody: answer) }
    }

    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        try await whole(send(WireHTTP.snapshotPartPath, PartRequest(id: id, index: index, size: size).body))
    }

    // MARK: - Requests

    private typealias Pieces = AsyncThrowingStream<Exchange.Piece, any Error>.AsyncIterator

    private func send(_ path: String, _ body: [UInt8], wait: Int = 0) -> Exchange {
        network.request(path, from: from, to: to, body, wait: wait)
    }

    private func message<Answer: WireMessage>(_ path: String, _ request: some WireMessage) async throws -> Answer {
        let body = try translated { () throws(WireError) in try request.encoded() }
        let answer = try await whole(send(path, body))
        return try translated { () throws(WireError) in try Answer(decoding: answer, limits: limits) }
    }

    private func whole(_ exchange: Exchange) async throws -> [UInt8] {
        defer { exchange.fail(SyncError(.cancelled, "the caller hung up")) }
        var pieces = exchange.answer.makeAsyncIterator()
        try await head(&pieces)
        var answer: [UInt8] = []
        while let piece = try await next(&pieces) { answer += piece }
        return answer
    }

    private func head(_ pieces: inout Pieces) async throws {
        guard case .head(let status) = try await pieces.next() else {
            try Task.checkCancellation()
            throw SyncError(.unreachable, "\(name) sent no answer")
        }
        guard status != 200 else { return }
        var body: [UInt8] = []
        while let piece = try await next(&pieces) { body += piece }
        throw SyncError(httpStatus: status, body: body, peer: name, retryAfter: nil, limits: limits)
    }

    private func next(_ pieces: inout Pieces) async throws -> [UInt8]? {
        switch try await pieces.next() {
        case .body(let bytes): return bytes
        case .head: throw SyncError(.notAPeer, "two heads")
        case nil:
            try Task.checkCancellation()
            return nil
        }
    }

    private func translated<T>(_ body: () throws(WireError) -> T) throws(SyncError) -> T {
        do {
            return try body()
        } catch {
            network.failed(SyncError(error))
            throw SyncError(error)
        }
    }
}
