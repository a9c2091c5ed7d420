import Journal

/// Inserts rows of one model in a transaction with one prepared statement.
///
/// What all rows share is looked up once. The work for each row is the binding, the step and a count.
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

    /// Completes the values and writes the row. An error has the row's key when the program gave it: nobody knows a
    /// key that was generated for a row that does not exist.
    mutating func insert(_ fields: inout M.Fields) throws {
        var isKeyGiven = false
        do {
            try insert(&fields, &isKeyGiven)
        } catch let error as StoreError {
            throw isKeyGiven ? error.of(M.self, fields._key) : error
        }
    }

    private mutating func insert(_ fields: inout M.Fields, _ isKeyGiven: inout Bool) throws {
        let unset = fields._unset
        let isUnset = !unset.isEmpty && M.schema.key.contains { unset.contains($0) }
        isKeyGiven = !isUnset
        let isMinted = isUnset && M.Fields._keySource == .rowid
        let isGenerated = isUnset && !isMinted
        for attempt in 1... {
            if isMinted { fields._key = try M.Fields._key(of: KeyValues(values: [.integer(0)])) }
            if isGenerated { fields._key = try unusedKey(unset) }
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
    /// - Parameter isMinted: True lets SQLite generate the key. `fields` has the key afterwards.
    mutating func write(_ fields: inout M.Fields, isMinted: Bool) throws {
        // As in `update`: the caller's code may have caught an error after which SQLite had ended the
        // transaction.
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
            // The caller's code changed the schema between two rows.
            log = try context.log(of: context.database.instances(of: M.self))
            generation = context.logGeneration
        }
        if log.isRecording { log.note(fields._key, .insert, columns: [], group: context.follower.group) }
        context.count(log, rowsTouched: touched)
    }

    /// Clears the bindings, because the statement keeps a copy of the last row's values.
    func finish() { statement.clearBindings() }

    /// Returns a generated key that no object in memory has. The INSERT finds out whether a row has it.
    private func unusedKey(_ unset: ColumnSet) throws -> M.ID {
        let instances = context.database.instances(of: M.self)
        for _ in 0..<WriteContext.keyAttempts {
            let key = try M.generateKey(unset)
            if instances.cached(key) == nil { return key }
        }
        throw StoreError.keyCollision(M.schema.table)
    }
}
