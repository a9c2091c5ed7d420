import CSQLiteShim
import Foundation
import GRDB

extension Replica {
    /// Opens a file that ``create(at:_:mayCreate:options:)`` or `syncd init` made a replica.
    ///
    /// Opening changes no content, except that it upgrades the journal of a file that an earlier release
    /// wrote. It fills an empty write-ahead log.
    ///
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `notAReplica`, `unsupportedFormat`, `corrupt`,
    ///   `readOnly`, `busy`. The file is then unchanged.
    public static func open(at path: String, options: Options = Options()) throws -> Replica {
        do {
            // This check uses a connection that changes nothing, because opening the pool below would switch
            // a foreign file to WAL.
            guard try hasJournal(path, options, mayRollBack: true) else { throw JournalError.notAReplica }
            let replica = try Replica(path: path, options: options)
            if try replica.read(JournalUpgrade.isDue) { try replica.write(JournalUpgrade.run) }
            return replica
        } catch {
            throw JournalError(error, operation: "Opening \(path)")
        }
    }

    /// Opens any SQLite file read-only, whether it is a replica or not. Opening writes no byte of the file
    /// and installs no capture.
    ///
    /// A file in WAL mode that no other connection has open needs a directory in which SQLite can create its
    /// shared memory (https://sqlite.org/wal.html#read_only_databases).
    ///
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `unsupportedFormat`, `corrupt`, `busy`.
    public static func reading(_ path: String, options: Options = Options()) throws -> Replica {
        do {
            return try Replica(readOnly: path, hasJournal: hasJournal(path, options), options: options)
        } catch {
            throw JournalError(error, operation: "Opening \(path)")
        }
    }

    /// True when the file has a journal of this release's format, which ``reading(_:options:)`` does not
    /// ensure.
    package var hasCurrentJournal: Bool {
        guard hasJournal else { return false }
        return (try? read(JournalUpgrade.isDue)) == false
    }

    /// Creates a replica in memory, which exists as long as it is open in this process.
    ///
    /// It has one connection, so reads wait for writes.
    ///
    /// - Throws: ``JournalError``: `unknownTable` for a table that `request` names and that
    ///   ``Options/prepare`` did not create; the code for the SQLite error for errors of SQLite; `sqlite` for
    ///   other errors that `prepare` throws. The database is discarded then.
    public static func inMemory(_ request: InitializeRequest, options: Options = Options()) throws -> Replica {
        do {
            let queue = try DatabaseQueue(configuration: Replica.configuration(options))
            _ = try queue.writeWithoutTransaction { db in
                try Replica.transaction(db) { db, _ in try Initialization.run(request, db) }
            }
            return Replica(inMemory: queue, options: options)
        } catch {
            throw JournalError(error, operation: "Making a replica in memory")
        }
    }

    /// True when the file has a journal that this release reads.
    ///
    /// - Parameter mayRollBack: True to let SQLite roll back an interrupted commit, as it does in every
    ///   program that writes.
    static func hasJournal(_ path: String, _ options: Options, mayRollBack: Bool = false) throws -> Bool {
        guard try FileInspection.check(path, isReadable: options.unlock == nil, files: options.files) else {
            throw JournalError(
                .notFound, "There is no file at \(path)",
                hint: "Check the path; `syncd init` works on an existing database.")
        }
        var configuration = Configuration()
        configuration.readonly = try !(mayRollBack && FileInspection.hasRollbackJournal(path, files: options.files))
        configuration.busyMode = .timeout(options.busySeconds)
        if let unlock = options.unlock { configuration.prepareDatabase(unlock) }
        // Otherwise the last connection to close would checkpoint without the lock.
        configuration.prepareDatabase { db in
            if let connection = db.sqliteConnection { _ = tandem_no_checkpoint_on_close(connection, 1) }
        }
        let probe = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? probe.close() }
        return try probe.read { db in
            do {
                _ = try Identity(db)
                return true
            } catch let error as JournalError where error.code == .notAReplica {
                return false
            }
        }
    }

    /// Makes a file a replica, or refreshes one: it installs the journal, the identity, and capture on every
    /// ordinary table or on the named tables.
    ///
    /// Existing rows become versions 1… of this origin. All changes are one transaction.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - request: What is captured.
    ///   - mayCreate: True to create the file when it is missing.
    ///   - options: How the file is opened.
    /// - Throws: ``JournalError``; the file is then unchanged, except that an empty file may have been
    ///   created.
    public static func create(
        at path: String, _ request: InitializeRequest, mayCreate: Bool = false, options: Options = Options()
    ) throws -> (replica: Replica, report: CaptureReport) {
        guard try FileInspection.check(path, isReadable: options.unlock == nil, files: options.files) || mayCreate
        else {
            throw JournalError(
                .notFound, "There is no file at \(path)",
                hint: "Create the database and its tables first; then make it a replica.")
        }
        do {
            // A DatabaseQueue keeps the file's own journal mode, so a failure leaves the file's header
            // unchanged.
            let own = options.ofOneFile(mapping: request.collations)
            var configuration = Replica.configuration(own)
            configuration.readonly = false
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.read(own.collations.reload)
            let (report, isNew) = try queue.writeWithoutTransaction { db in
                let wasInWAL = try JournalMode.isWAL(db)
                return try Replica.transaction(db) { db, _ in
                    // A tool that drops the journal's tables leaves the mode that the earlier `init` has set.
                    let isNew = try !Identity.isThere(db) && JournalLeftovers(db).isEmpty
                    var report = try Initialization.run(
                        request, db, fingerprint: options.files.fingerprint(of: path))
                    report.setsWAL = !wasInWAL
                    return (report, isNew)
                }
            }
            try queue.close()
            let replica = try Replica(path: path, options: options)
            if isNew {
                try PublicationRecord(database: path, files: options.files).note(wasInWAL: !report.setsWAL)
            }
            // Copies of a file are often made right after its rows were journalled.
            if report.tracked.contains(where: { $0.adoptedRows > 0 }) { try replica.publishHead() }
            return (replica, report)
        } catch {
            throw JournalError(error, operation: "Making \(path) a replica")
        }
    }
}
