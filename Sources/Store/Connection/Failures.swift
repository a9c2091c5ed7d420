extension Database.Options {
    /// Wraps the error of an access, adds the operation and the table when the error names none, and passes
    /// it to ``onFailure``.
    func failed(_ error: any Error, operation: String, table: String? = nil) -> any Error {
        let wrapped = StoreError.wrapping(error, operation: operation)
        guard let failure = (wrapped as? StoreError)?.during(operation, table: table) else { return wrapped }
        onFailure?(failure)
        return failure
    }
}

extension Database {
    /// Like the options' `failed`, for errors outside an access to this database. An error inside an access
    /// is reported when it leaves the access.
    func failed(_ error: any Error, operation: String, table: String? = nil) -> any Error {
        if ThreadContext.access(to: self) == nil { return options.failed(error, operation: operation, table: table) }
        let wrapped = StoreError.wrapping(error, operation: operation)
        return (wrapped as? StoreError)?.during(operation, table: table) ?? wrapped
    }

    func checkWritable() throws {
        guard replica.isReadOnly else { return }
        throw StoreError(
            .readOnly, "The database was opened for reading only", hint: "Open it without `isReadOnly` to write.")
    }
}
