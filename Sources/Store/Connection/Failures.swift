extension Database.Options {
    /// Wraps what an access threw, and tells it to whoever asked to be told (``onFailure``).
    func failed(_ error: any Error, operation: String) -> any Error {
        let wrapped = StoreError.wrapping(error, operation: operation)
        if let failure = wrapped as? StoreError { onFailure?(failure) }
        return wrapped
    }
}

extension Database {
    func checkWritable() throws {
        guard replica.isReadOnly else { return }
        throw StoreError(
            .readOnly, "the database was opened for reading only", hint: "Open it without `isReadOnly` to write.")
    }
}
