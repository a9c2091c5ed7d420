extension Model {
    // The defaults of the hooks: nothing.
    /// Lets every row be made as it is.
    ///
    /// - Throws: Nothing.
    public static func willInsert(_ fields: inout Fields) throws {}
    /// Lets every save through as it is.
    ///
    /// - Throws: Nothing.
    public func willUpdate(_ fields: inout Fields) throws {}
    /// Lets every row be deleted.
    ///
    /// - Throws: Nothing.
    public func willDelete() throws {}
    /// Does nothing.
    public func didInsert() {}
    /// Does nothing.
    public func didUpdate(_ columns: Set<String>) {}
    /// Does nothing.
    public func didDelete() {}
}
