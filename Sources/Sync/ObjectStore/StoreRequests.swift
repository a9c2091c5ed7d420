/// How many requests were sent to a store, and how many bytes went each way. Servers charge by these.
package struct StoreRequests: Sendable, Hashable {
    package var creates = 0
    package var replaces = 0
    package var gets = 0
    package var lists = 0
    package var deletes = 0
    /// Bytes of objects, without headers.
    package var sentBytes = 0
    package var receivedBytes = 0

    package init() {}

    /// All requests.
    package var total: Int { creates + replaces + gets + lists + deletes }
}
