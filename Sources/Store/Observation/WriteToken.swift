import Foundation
import GRDB
import Journal

/// Names what a replica has written, for readers of other replicas that want to see it.
///
/// The replica that wrote makes a token (``Database/writeToken()``), any other one waits for it
/// (``Database/wait(for:timeout:)``, `syncd wait`, `POST /v1/wait`). It is a text without blanks, no secret,
/// and gives no access.
public typealias WriteToken = Journal.WriteToken

extension StoreError.Code {
    /// The time for which a call may wait is over.
    public static let timedOut = StoreError.Code(rawValue: "timed_out")
}

extension Database {
    /// Returns a token for everything that was written to this file so far, by this program and by others.
    ///
    /// Inside a transaction, the token also covers what the transaction has written until then. It means
    /// nothing when the transaction is rolled back.
    ///
    /// ```swift
    /// let token = try await db.write {
    ///     try Person.create(in: db) { $0.name = "Bob" }
    ///     return try db.writeToken()
    /// }
    /// ```
    ///
    /// Changes that other replicas wrote are not part of it, although they may be here.
    ///
    /// - Throws: ``StoreError/Code/closed``; another ``StoreError`` when the file cannot be read.
    public func writeToken() throws -> WriteToken {
        try access { context in
            let reader = try JournalReader(context.db)
            let origin = reader.identity.origin
            return WriteToken(origin: origin, version: reader.vector()[origin])
        }
    }

    /// Returns once this replica has what `token` names. Reads and live objects then show it, or a later
    /// state.
    ///
    /// The call sleeps until the file changes. A row that cannot be shown, because of a constraint here,
    /// counts as arrived (``heldRows(table:reason:)``).
    ///
    /// ```swift
    /// try await db.wait(for: token, timeout: .seconds(5))
    /// let people = try Person.all(in: db)
    /// ```
    ///
    /// - Parameters:
    ///   - token: What to wait for.
    ///   - timeout: The longest wait; nil waits until it arrives. Zero only looks.
    /// - Throws: ``StoreError/Code/timedOut`` when it does not arrive in time, and at once in a database in
    ///   memory, which no replica reaches; ``StoreError/Code/closed``, also when the database is closed
    ///   meanwhile; `CancellationError`; another ``StoreError`` when the file cannot be read.
    public func wait(for token: WriteToken, timeout: Duration? = nil) async throws {
        // Subscribed before the first look, so that no change falls between the look and the wait.
        let changes = self.changes
        guard let timeout else { return try await follow(changes, until: token) }
        let isReached = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.follow(changes, until: token)
                return true
            }
            group.addTask {
                try await Task.sleep(for: timeout, clock: .continuous)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        if isReached { return }
        // It may have arrived in the last moment.
        if try await takeUp(token) { return }
        throw failed(StoreError.notArrived, operation: "waiting")
    }

    private func follow(_ changes: AsyncStream<Void>?, until token: WriteToken) async throws {
        if try await takeUp(token) { return }
        guard let changes else { throw failed(StoreError.notArrived, operation: "waiting") }
        for await _ in changes where try await takeUp(token) { return }
        try Task.checkCancellation()
        // The watch ends with the database.
        throw failed(StoreError.closed, operation: "waiting")
    }

    /// Brings live objects up to date when the file holds what `token` names.
    ///
    /// - Returns: Whether it does.
    private func takeUp(_ token: WriteToken) async throws -> Bool {
        try await workers.run(on: workers.readers) { call in
            try call.begin()
            let isHere = try self.access { try JournalReader($0.db).vector()[token.origin] >= token.version }
            if isHere { try self.refresh() }
            return isHere
        }
    }
}

extension StoreError {
    fileprivate static var notArrived: StoreError {
        StoreError(
            .timedOut, "The write has not arrived here",
            hint: "Try again later; `syncd status` shows whether the replicas reach each other.")
    }
}
