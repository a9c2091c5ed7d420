import Foundation
import GRDB
import TestSupport
import Testing

/// A directory with databases for one test.
struct Workspace: Sendable {
    let directory = TemporaryDirectory()

    func path(_ name: String) -> String { directory.file(name) }

    /// Makes an ordinary database with two tables, one of them without a primary key. It is not a replica
    /// yet.
    func makeDatabase(_ name: String = "a.sqlite", rows: Int = 3) throws -> String {
        let path = path(name)
        try execute(
            path,
            """
            CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT, age INTEGER);
            CREATE TABLE loose (what TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO person SELECT 'p' || i, 'name ' || i, i FROM n WHERE \(rows) > 0;
            """)
        return path
    }

    /// Makes a replica. The table without a primary key is excluded, so that nothing is left out by accident.
    func makeReplica(_ name: String = "a.sqlite", rows: Int = 3, cluster: String = "main") async throws -> String {
        let path = try makeDatabase(name, rows: rows)
        let outcome = try await Tool.run("init", path, "--cluster", cluster, "--exclude", "loose")
        try #require(outcome.status == 0, "\(outcome)")
        return path
    }

    func execute(_ path: String, _ sql: String) throws {
        var configuration = Configuration()
        // A daemon may be writing.
        configuration.busyMode = .timeout(10)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    func value<T: DatabaseValueConvertible & StatementColumnConvertible & Sendable>(
        _ path: String, _ sql: String, as type: T.Type = T.self
    ) throws -> T? {
        let queue = try DatabaseQueue(path: path)
        let value = try queue.read { try T.fetchOne($0, sql: sql) }
        try queue.close()
        return value
    }

    func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        let path = path(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// What must not change when a command refuses its input: the bytes of files, and the list
    /// of files in the directory.
    func snapshot() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
            let isRegular = attributes[.type] as? FileAttributeType == .typeRegular
            files[name] = isRegular ? FileManager.default.contents(atPath: path(name)) : Data()
        }
        return files
    }
}
