import GRDB
import Journal

/// What holds for leaves, which have some tables only, and for callers whose tokens are limited to tables.
///
/// What refuses a caller names tables that the caller has named, and no others.
enum LeafScope {
    // MARK: - What a leaf does not do

    /// - Throws: ``SyncError/Code/forbidden`` for a leaf: it lacks what its vector covers.
    static func checkServes(_ identity: Identity) throws(SyncError) {
        guard let leaf = identity.leaf else { return }
        throw SyncError(
            .forbidden,
            "This replica is a leaf: it has only \(leaf.scope.list), so nobody can get changes or a copy from it",
            hint: "Follow the replica that the leaf follows. The leaf sends there what it writes.")
    }

    // MARK: - What a file takes

    /// Returns a batch as this file may have it: a leaf hides what is not of its tables, whoever sends it.
    ///
    /// - Throws: ``SyncError/Code/invalid`` when changes are hidden from a replica that has all tables.
    static func received(_ batch: ChangeBatch, _ db: Database) throws -> ChangeBatch {
        guard let leaf = try Identity(db).leaf else {
            guard !batch.hasHiddenChanges else {
                throw SyncError(
                    .invalid, "The peer hides changes, and this replica has all tables",
                    hint: "The peer may be a leaf, which has some tables only: follow the replica that it follows.")
            }
            return batch
        }
        let covers = leaf.scope.test(try TableNames(db))
        return batch.hiding { !covers($0) }
    }

    // MARK: - What a limited caller may send

    /// Checks a frame of a push before anything of it is applied.
    ///
    /// - Parameter sender: Who the push says that it is.
    /// - Throws: ``SyncError/Code/forbidden`` for a change of another table or of another origin.
    static func check(
        _ frame: Frame, of sender: OriginID, in scope: TableScope, _ replica: Replica, _ limits: Limits
    ) throws {
        let batch: ChangeBatch
        do throws(WireError) {
            batch = try frame.batch(limits: limits)
        } catch {
            throw SyncError(error)
        }
        let names = try replica.read { try TableNames($0) }
        let covers = scope.test(names)
        if let table = batch.shapes.first(where: { !covers($0.table) })?.table {
            throw SyncError(
                .forbidden,
                "The push has a change of the table \(table), and its token or certificate is limited to \(scope.list)",
                hint: "Nothing of that part of the push was taken, and what was written later waits behind it. Add the "
                    + "table to the line of the daemon's tokens file.")
        }
        guard let other = batch.runs.first(where: { $0.origin != sender })?.origin else { return }
        throw SyncError(
            .forbidden,
            "The push has changes of another replica, \(other.short), and a token for some tables relays none",
            hint: "Follow that replica here too, or give the caller a token without tables.")
    }

    // MARK: - What a limited caller may ask for

    /// Checks that what a caller asks for is among the tables of its token.
    ///
    /// - Throws: ``SyncError/Code/forbidden``.
    static func check(_ asked: TableScope?, in scope: TableScope, _ replica: Replica) throws {
        guard let asked else {
            throw SyncError(
                .forbidden,
                "The token or certificate is limited to \(scope.list), and the caller's file has all tables",
                hint: "Make a file that has these tables only: `syncd clone` with this token.")
        }
        let lacking = scope.lacking(asked, try replica.read { try TableNames($0) })
        guard !lacking.isEmpty else { return }
        throw SyncError(
            .forbidden,
            "The caller's file has \(lacking.joined(separator: ", ")) too, and the token or certificate is limited to "
                + scope.list,
            hint: "Add the tables to the line of the daemon's tokens file, or make the file anew with `syncd clone`.")
    }

    /// Checks that a leaf can have these tables without others.
    ///
    /// - Throws: ``SyncError/Code/forbidden``.
    static func check(_ scope: TableScope, _ replica: Replica) throws {
        switch try replica.read({ try scope.obstacle($0) }) {
        case nil: return
        case .missing(let table):
            throw SyncError(
                .forbidden, "The token or certificate names the table \(table), which is not replicated here",
                hint: "Check the spelling in the daemon's tokens file; `syncd init` lists the tables.")
        case .refers(let table): throw refers(table)
        }
    }

    /// As ``check(_:_:)``, without looking whether the tables are there: one may have been dropped meanwhile.
    static func checkReferences(_ scope: TableScope, _ replica: Replica) throws {
        guard case .refers(let table) = try replica.read({ try scope.obstacle($0) }) else { return }
        throw refers(table)
    }

    private static func refers(_ table: String) -> SyncError {
        SyncError(
            .forbidden,
            "The table \(table) refers to a table that is not among those of the token, so what it shows would differ",
            hint: "The schema of \(table) names it: add that table to the line of the daemon's tokens file.")
    }
}
