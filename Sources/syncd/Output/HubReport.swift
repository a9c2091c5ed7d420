import Journal
import Sync

/// What `GET /v1/status` and `/metrics` show of a hub.
struct HubReport: Sendable {
    let status: HubStatus
    /// The replicas whose pulls wait for news.
    let followers: Int
    /// Why the last reload has changed nothing; nil when it succeeded.
    var configurationRefused: String?

    var json: JSONValue {
        .object([
            "origin": status.origin.map { .string($0.description) } ?? .null,
            "cluster": status.cluster.map { .string($0) } ?? .null,
            "version": .string(Version.current),
            "store": .string(status.store),
            "ready": .bool(status.isReady),
            "vector": .vector(status.vector),
            "frames": .integer(Int64(status.frames)),
            "cached_bytes": .integer(Int64(status.cachedBytes)),
            "waiting_frames": .integer(Int64(status.waitingFrames)),
            "waiting_bytes": .integer(Int64(status.waitingBytes)),
            "followers": .integer(Int64(followers)),
            "received_changes": .integer(Int64(status.receivedChanges)),
            "sent_frames": .integer(Int64(status.sentFrames)),
            "store_requests": status.requests.json,
            "error": status.failure.map { .string($0.description) } ?? .null,
            "problem": status.problem.map { .string($0.description) } ?? .null,
            "configuration_refused": configurationRefused.map { .string($0) } ?? .null,
        ])
    }
}

extension PrometheusText {
    /// The metrics of a hub.
    init(_ report: HubReport, requests: RequestMetrics) {
        let status = report.status
        add(
            "tandem_hub_info", "Always 1; the labels describe the hub and the software.",
            [
                (
                    labels: [
                        "origin": status.origin?.description ?? "", "cluster": status.cluster ?? "",
                        "store": status.store, "version": Version.current,
                    ], value: 1
                )
            ])
        add("tandem_hub_ready", "1 once everything in the archive is read.", status.isReady ? 1 : 0)
        add("tandem_hub_failing", "1 when the last work with the store failed.", status.failure == nil ? 0 : 1)
        add(
            "tandem_hub_damaged", "1 when something in the archive is damaged or missing.",
            status.problem == nil ? 0 : 1)
        add("tandem_hub_frames", "Frames that the hub serves.", status.frames)
        add("tandem_hub_cached_bytes", "Bytes of frames in memory.", status.cachedBytes)
        add("tandem_hub_waiting_frames", "Frames that no pack holds yet.", status.waitingFrames)
        add("tandem_hub_waiting_bytes", "Bytes of frames that no pack holds yet.", status.waitingBytes)
        add("tandem_hub_followers", "Replicas whose pulls wait for news.", report.followers)
        add(
            "tandem_hub_received_changes_total", "Changes that were pushed and were new.", type: "counter",
            status.receivedChanges)
        add("tandem_hub_sent_frames_total", "Frames that were sent.", type: "counter", status.sentFrames)
        add(
            "tandem_known_version", "Highest version known of each origin.",
            status.vector.entries.map { (labels: ["origin": $0.origin.description], value: $0.version) })
        add(
            "tandem_store_requests_total", "Requests to an archive's object store.", type: "counter",
            StoreRequests.verbs.map { verb in
                (labels: ["peer": status.store, "verb": verb.name], value: Int64(verb.count(status.requests)))
            })
        add(
            "tandem_store_sent_bytes_total", "Bytes of objects sent to an archive's object store.", type: "counter",
            [(labels: ["peer": status.store], value: Int64(status.requests.sentBytes))])
        add(
            "tandem_store_received_bytes_total", "Bytes of objects received from an archive's object store.",
            type: "counter", [(labels: ["peer": status.store], value: Int64(status.requests.receivedBytes))])
        add(requests)
    }
}
