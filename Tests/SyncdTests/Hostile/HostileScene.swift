import Foundation
import Journal
import SwiftProtobuf

@testable import Sync

/// The values that an attacker needs for a plausible input.
struct HostileScene: Sendable {
    /// The replica under attack.
    let own: OriginID
    /// The number of its changes.
    let ownVersion: Int64
    /// The origin of the attacker, a new one for each input.
    let origin = OriginID.random()
    var cluster = "main"
    let milliseconds = Int64(Date().timeIntervalSince1970 * 1_000)

    var stamp: Stamp { Stamp(milliseconds: milliseconds) }

    /// Text that may not appear in any message or log.
    static let canary = "canary-row-7f3a"
    static let token = "canary-token-0123456789abcdef"

    /// Changes of one table, one transaction each.
    func batch(
        _ table: String = "person", _ columns: [String] = ["id", "name", "age"], keys: Int = 1,
        _ rows: [[Value]]? = nil, operation: Journal.Operation = .insert, stamp: Stamp? = nil, life: Int64? = nil,
        first: Int64 = 1, origin: OriginID? = nil, known: VersionVector = VersionVector()
    ) -> ChangeBatch {
        let rows = rows ?? [[.text("x-\(self.origin.short)"), .text(HostileScene.canary), .integer(7)]]
        var batch = ChangeBatch()
        batch.shapes = [TableShape(table: table, columns: columns, keyCount: keys)]
        for (index, row) in rows.enumerated() {
            let carried = operation == .delete ? Array(row.prefix(keys)) : row
            let start = batch.values.count
            batch.values += carried
            batch.changes.append(
                Change(
                    shape: 0, operation: operation, life: life ?? operation.usualLife,
                    stamp: Stamp(rawValue: (stamp ?? self.stamp).rawValue + Int64(index)),
                    mask: operation == .delete ? ColumnMask() : ColumnMask(all: columns.count),
                    values: start..<batch.values.count, endsTransaction: true))
        }
        batch.runs = [
            Run(origin: origin ?? self.origin, firstVersion: first, changes: 0..<batch.changes.count, known: known)
        ]
        return batch
    }

    func open(as origin: OriginID? = nil, cluster: String? = nil) throws -> [UInt8] {
        try Frame(body: .open(cluster: cluster ?? self.cluster, origin: origin ?? self.origin)).encoded()
    }

    func end(_ vector: VersionVector = VersionVector()) throws -> [UInt8] {
        try Frame(body: .end(vector: vector, more: false)).encoded()
    }

    /// A complete push of `batch`.
    func push(_ batch: ChangeBatch, as origin: OriginID? = nil) throws -> [UInt8] {
        try open(as: origin) + Frame(batch, encoding: .zstd).encoded() + end()
    }

    /// A complete push of a payload with the header of a good batch, and with a right size and checksum.
    func push(
        payload: [UInt8], encoding: PayloadEncoding = .none, rawSize: Int? = nil, covers: [Cover]? = nil
    ) throws -> [UInt8] {
        let frame = Frame(
            body: .batch(
                covers: covers ?? Frame.covers(of: batch()), encoding: encoding, rawSize: rawSize ?? payload.count),
            payload: payload)
        return try open() + frame.encoded() + end()
    }

    /// A complete push of a batch whose message is broken in one place.
    func push(
        _ batch: ChangeBatch? = nil, breaking change: (inout Tandem_V1_ChangeBatch) -> Void
    ) throws -> [UInt8] {
        let batch = batch ?? self.batch()
        var message = try Tandem_V1_ChangeBatch(serializedBytes: BatchCodec.encode(batch))
        change(&message)
        return try push(payload: message.serializedBytes(), covers: Frame.covers(of: batch))
    }

    func hello(_ change: (inout Tandem_V1_Hello) -> Void = { _ in }) throws -> [UInt8] {
        let hello = Hello(
            cluster: cluster, origin: origin, formatVersion: 1, vector: VersionVector(), wallMilliseconds: milliseconds)
        return try HostileScene.changed(hello, change)
    }

    func pull(_ change: (inout Tandem_V1_PullRequest) -> Void = { _ in }) throws -> [UInt8] {
        try HostileScene.changed(PullRequest(cluster: cluster, origin: origin, have: VersionVector()), change)
    }

    func digest(
        _ question: DigestRequest.Question = .tables, _ change: (inout Tandem_V1_DigestRequest) -> Void = { _ in }
    ) throws -> [UInt8] {
        try HostileScene.changed(DigestRequest(cluster: cluster, question: question), change)
    }

    private static func changed<M: Message>(_ message: some WireMessage, _ change: (inout M) -> Void) throws -> [UInt8]
    {
        var wire = try M(serializedBytes: message.encoded())
        change(&wire)
        return try wire.serializedBytes()
    }

    // MARK: HTTP

    static let authorization = "Authorization: Bearer \(token)"

    /// A request of HTTP/1.1 with the token. Further lines and a body are sent as they are.
    func http(_ start: String, _ lines: [String] = [authorization], body: [UInt8] = []) -> [UInt8] {
        let head = "\(start)\r\nHost: localhost\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
        return Array(head.utf8) + body
    }

    /// A `POST` with the token, the content type of the route and these lines.
    func post(_ path: String, _ lines: String..., body: [UInt8] = []) -> [UInt8] {
        let type = path == WireHTTP.pushPath ? WireHTTP.framesType : WireHTTP.messageType
        return http("POST \(path) HTTP/1.1", [HostileScene.authorization, "Content-Type: \(type)"] + lines, body: body)
    }
}
