extension Database.Options {
    /// Wraps what an access threw, names the place where it is not known yet, and tells it to whoever asked to be told
    /// (``onFailure``).
    func failed(_ error: any Error, operation: String, table: String? = nil) -> any Error {
        let wrapped = StoreError.wrapping(error, operation: operation)
        guard let failure = (wrapped as? StoreError)?.during(operation, table: table) else { return wrapped }
        onFailure?(failure)
        return failure
    }
}

extension Database {
    /// Like the options' `failed`, for what is thrown outside of an access to this database. Inside of one it is told when it
    /// leaves that.
    func failed(_ error: any Error, operation: String, table: String? = nil) -> any Error {
        if ThreadContext.access(to: self) == nil { return options.failed(error, operation: operation, table: table) }
        let wrapped = StoreError.wrapping(error, operation: operation)
        return (wrapped as? StoreError)?.during(operation, table: table) ?? wrapped
    }

    func checkWritable() throws {
        guard replica.isReadOnly else { return }
        throw StoreError(
            .readOnly, "the database was opened for reading only", hint: "Open it without `isReadOnly` to write.")
    }
}
