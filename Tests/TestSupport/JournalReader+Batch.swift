import Journal

extension JournalReader {
    /// Everything beyond `have`, as one batch.
    package func batch(after have: VersionVector) throws -> ChangeBatch {
        var result = ChangeBatch()
        try forEachBatch(after: have, changes: .max, bytes: .max) { batch in
            result = batch
            return true
        }
        return result
    }
}
