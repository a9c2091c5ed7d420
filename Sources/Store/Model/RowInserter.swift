import Journal

/// Writes new rows of one model in a transaction, by one statement.
///
/// What is the same for each row is looked up once; what remains for each is binding, the step, and a count.
struct RowInserter<M: Model> {
    private let context: WriteContext
    private let statement: PreparedStatement
    private var log: ModelLog<M>
    /// ``WriteContext/logGeneration`` at which ``log`` was looked up.
    private var generation: Int

    init(_ context: WriteContext) throws {
        self.context = context
        statement = try PreparedStatement(context.db, M.schema.insert)
        log = try context.log(of: context.database.instances(of: M.self))
        generation = context.logGeneration
        context.follower.commits.note(table: M.schema.table, .insert, columns: [])
    }

    /// Completes the values and writes the row.
    mutating func insert(_ fields: inout M.Fields) throws {
        let unset = fields._unset
        let isUnset = !unset.isEmpty && M.schema.key.contains { unset.contains($0) }
        let isMinted = isUnset && M.Fields._keySource == .rowid
        let isGenerated = isUnset && !isMinted
        for attempt in 1... {
            if isMinted { fields._key = try M.Fields._key(of: KeyValues(values: [.integer(0)])) }
            if isGenerated { fields._key = try unusedKey() }
            if attempt == 1 { try M.willInsert(&fields) }
            try context.requireAll(M.self, fields)
            fields._normalize()
            do {
                return try write(&fields, isMinted: isMinted)
            } catch let error as StoreError where error.code == .primaryKey && isGenerated {
                guard attempt < WriteContext.keyAttempts else { throw StoreError.keyCollision(M.schema.table) }
            }
        }
    }

    /// Writes a row whose values are complete.
    ///
    /// - Parameter isMinted: True lets SQLite choose the key, which `fields` has afterwards.
    mutating func write(_ fields: inout M.Fields, isMinted: Bool) throws {
        // As in `update`: the caller's code may have gone on after the end of the transaction.
        if !statement.isInsideTransaction { try context.checkOpen() }
        defer { statement.reset() }
        do {
            try fields._bindAll(to: statement.parameters)
            if isMinted { try statement.parameters.bindNull(at: M.schema.key[0]) }
        } catch {
            throw context.unstorable(M.self, fields, error)
        }
        let before = statement.totalChanges
        do { _ = try statement.step() } catch { throw context.located(error, M.self, fields) }
        let touched = statement.totalChanges - before
        if isMinted { fields._key = try M.Fields._key(of: KeyValues(values: [.integer(statement.lastRowid)])) }
        if generation != context.logGeneration {
            // The caller's code has changed the schema between two rows.
            log = try context.log(of: context.database.instances(of: M.self))
            generation = context.logGeneration
        }
        if log.isRecording { log.note(fields._key, .insert, columns: [], group: context.follower.group) }
        context.count(log, rowsTouched: touched)
    }

    /// Lets go of the last row's values, which the statement keeps a copy of.
    func finish() { statement.clearBindings() }

    /// A generated key that no held object has. Whether a row has it, the INSERT itself finds out.
    private func unusedKey() throws -> M.ID {
        let instances = context.database.instances(of: M.self)
        for _ in 0..<WriteContext.keyAttempts {
            let key = try M.generateKey()
            if instances.cached(key) == nil { return key }
        }
        throw StoreError.keyCollision(M.schema.table)
    }
}
