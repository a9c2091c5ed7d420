import Journal

/// The endpoint for a caller whose token is limited to tables.
///
/// No answer has a name or a value of another table. Of changes of other tables, the caller learns that there are
/// some and when they were written.
package struct LimitedEndpoint: WireService {
    private let endpoint: Endpoint
    private let scope: TableScope
    private let bodies: WireBodies

    package init(_ endpoint: Endpoint, to scope: TableScope) {
        self.endpoint = endpoint
        self.scope = scope
        bodies = WireBodies(limits: endpoint.limits)
    }

    package func hello(body: [UInt8]) async throws -> [UInt8] {
        var hello = try bodies.decode(Hello.self, body)
        // It speaks for itself, and for nobody else.
        hello.acknowledgements.removeAll { $0.origin != hello.origin }
        return try bodies.encode(try await endpoint.hello(hello, in: scope))
    }

    package func digest(body: [UInt8]) async throws -> [UInt8] {
        let request = try bodies.decode(DigestRequest.self, body)
        let covers = scope.test(try await blocking { [endpoint] in try endpoint.replica.read { try TableNames($0) } })
        if let table = request.question.table, !covers(table) {
            throw SyncError(
                .notFound, "The token or certificate is limited to \(scope.list)",
                hint: "The tokens file of the daemon says what each token and certificate may be used for.")
        }
        return try bodies.encode(try await endpoint.digest(request).keeping(covers))
    }

    package func pullRequest(body: [UInt8]) async throws -> PullRequest {
        let request = try bodies.decode(PullRequest.self, body)
        try await check(request)
        try await endpoint.check(request)
        return request
    }

    package func pull(_ request: PullRequest, write: ([UInt8]) async throws -> Void) async throws {
        try await check(request)
        try await endpoint.pull(request, write: write)
    }

    package func beginPush() -> PushReceiver { PushReceiver(endpoint, in: scope) }

    package func snapshot() async throws -> SnapshotAnswer {
        try await endpoint.snapshot(of: endpoint.leafSnapshots.keeper(of: scope))
    }

    package func part(_ index: Int, of id: String, encoding: PayloadEncoding) async throws -> [UInt8] {
        try await endpoint.part(index, of: id, encoding: encoding, from: endpoint.leafSnapshots.keeper(of: scope))
    }

    private func check(_ request: PullRequest) async throws {
        try await blocking { [endpoint, scope] in try LeafScope.check(request.scope, in: scope, endpoint.replica) }
    }
}

extension DigestRequest.Question {
    /// The table that the question is about; nil for the one about all tables.
    fileprivate var table: String? {
        switch self {
        case .tables: nil
        case .digests(let shape, _, _), .rows(let shape, _, _), .recapture(let shape, _): shape.table
        }
    }
}

extension DigestReply {
    /// The answer without the tables that the caller must not know.
    fileprivate func keeping(_ covers: (String) -> Bool) -> DigestReply {
        var reply = self
        let kept = tables.indices.filter { covers(tables[$0].table) }
        reply.tables = kept.map { tables[$0] }
        reply.affinities = kept.compactMap { affinities.indices.contains($0) ? affinities[$0] : nil }
        return reply
    }
}
