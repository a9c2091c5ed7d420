extension Model {
    // The defaults of the hooks: nothing.
    public static func willInsert(_ fields: inout Fields) throws {}
    public func willUpdate(_ fields: inout Fields) throws {}
    public func willDelete() throws {}
    public func didInsert() {}
    public func didUpdate(_ columns: Set<String>) {}
    public func didDelete() {}
}
