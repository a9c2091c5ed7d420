extension Model {
    // The default hooks, which do nothing.
    /// Accepts every new row unchanged.
    ///
    /// - Throws: Nothing.
    public static func willInsert(_ fields: inout Fields) throws {}
    /// Accepts every save unchanged.
    ///
    /// - Throws: Nothing.
    public func willUpdate(_ fields: inout Fields) throws {}
    /// Accepts every deletion.
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
