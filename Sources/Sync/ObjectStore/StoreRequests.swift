/// How many requests were sent to a store, and how many bytes went each way. Servers charge by these.
public struct StoreRequests: Sendable, Hashable {
    /// Puts that fail when the object exists.
    public package(set) var creates = 0
    /// Puts that replace an object.
    public package(set) var replaces = 0
    public package(set) var gets = 0
    /// Pages of listings.
    public package(set) var lists = 0
    public package(set) var deletes = 0
    /// Bytes of objects, without headers.
    public package(set) var sentBytes = 0
    public package(set) var receivedBytes = 0

    package init() {}

    /// All requests.
    public var total: Int { creates + replaces + gets + lists + deletes }
}
