import CCurl
import Foundation
import Synchronization

/// One request to a server and its answer, which is read piece by piece.
///
/// A thread of its own runs libcurl. Received bytes wait in a short queue. When the queue is full, the
/// transfer pauses until the reader has taken some, so memory is bounded for any answer. Cancelling the
/// reading task wakes the thread, which closes the connection.
final class CurlExchange: Sendable {
    /// The status and the header fields of an answer.
    struct Head: Sendable {
        var status = 0
        /// By names in lower case. Of two fields with one name, the last one counts.
        private var fields: [String: String] = [:]

        subscript(name: String) -> String? { fields[name] }

        var contentType: String? { self["content-type"] }
        var contentEncoding: String? { self["content-encoding"] }
        var retryAfter: String? { self["retry-after"] }

        /// Takes one line of the answer. A status line begins anew.
        fileprivate mutating func add(_ line: [UInt8]) {
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if text.hasPrefix("HTTP/") {
                self = Head()
                status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                return
            }
            guard let colon = text.firstIndex(of: ":") else { return }
            let value = String(text[text.index(after: colon)...]).trimmingCharacters(in: .whitespaces)
            fields[text[..<colon].lowercased()] = value
        }
    }

    private struct State {
        var incoming = Head()
        var head: Head?
        var headerBytes = 0
        var pieces: [[UInt8]] = []
        var queued = 0
        var received = 0
        var isPaused = false
        /// The bound of the answer's speed; nil for none.
        var rate: ReceiveRate?

        /// The milliseconds until the rate allows more.
        mutating func delay() -> Int64 {
            let now = Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000)
            return rate?.delay(after: received, milliseconds: now) ?? 0
        }
        var isCancelled = false
        var failure: SyncError?
        var isDone = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let handle: CurlHandle
    private let party: CurlParty
    private let bodyLimit: Int
    private let limits: Limits
    private let onDone: @Sendable (CurlHandle) -> Void

    /// - Parameters:
    ///   - handle: Ready to run, except for the callbacks.
    ///   - bodyLimit: The most bytes of body to accept.
    ///   - bytesPerSecond: The most bytes of body a second; nil for no bound.
    ///   - onDone: Receives the handle back, on the thread of the transfer.
    init(
        _ handle: CurlHandle, party: CurlParty, bodyLimit: Int, bytesPerSecond: Int? = nil, limits: Limits,
        onDone: @escaping @Sendable (CurlHandle) -> Void
    ) {
        var state = State()
        state.rate = bytesPerSecond.map { ReceiveRate(bytesPerSecond: $0) }
        self.state = Mutex(state)
        self.handle = handle
        self.party = party
        self.bodyLimit = bodyLimit
        self.limits = limits
        self.onDone = onDone
    }

    func start() {
        let thread = Thread { self.run() }
        thread.name = "tandem.curl"
        thread.stackSize = 1 << 20
        thread.start()
    }

    // MARK: Reading

    /// The status and the header fields, as soon as they have arrived.
    func head() async throws -> Head {
        while true {
            let found = try state.withLock { state throws(SyncError) -> Head? in
                if let head = state.head { return head }
                if let failure = state.failure { throw failure }
                guard !state.isDone else { throw SyncError(.truncated, "\(party.name) closed the connection") }
                return nil
            }
            if let found { return found }
            await news(forHead: true)
        }
    }

    /// The next piece of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        while true {
            let (piece, isDone, resume) = try state.withLock { state throws(SyncError) in
                if !state.pieces.isEmpty {
                    let piece = state.pieces.removeFirst()
                    state.queued -= piece.count
                    return (Optional(piece), false, state.isPaused)
                }
                if let failure = state.failure { throw failure }
                return (nil, state.isDone, false)
            }
            if resume { handle.wakeUp() }
            if let piece { return piece }
            if isDone { return nil }
            await news(forHead: false)
        }
    }

    /// Ends the transfer and closes the connection.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        handle.wakeUp()
    }

    /// Returns when something has changed since the last check. Only one reader may wait at a time.
    private func news(forHead: Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    let hasHead = forHead && state.head != nil
                    guard state.pieces.isEmpty, !state.isDone, state.failure == nil, !hasHead else { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    private func notify() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: The thread

    private func run() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        var failure: SyncError?
        var errorText = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        errorText.withUnsafeMutableBytes { errorText in
            do {
                try handle.set(CURLOPT_ERRORBUFFER, errorText.baseAddress)
                try handle.set(CURLOPT_WRITEDATA, context)
                try handle.set(CURLOPT_HEADERDATA, context)
                try handle.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                    CurlExchange.of(context)?.received(bytes, size * count) ?? 0
                }
                try handle.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                    CurlExchange.of(context)?.receivedHeader(bytes, size * count) ?? 0
                }
                let code = transfer()
                if code != CURLE_OK {
                    let text = errorText.prefix { $0 != 0 }
                    failure = CurlFailure.error(code, text: String(decoding: text, as: UTF8.self), party: party)
                }
            } catch {
                failure = error as? SyncError
            }
            // The error buffer is valid only in this block.
            _ = tandem_setopt_pointer(handle.easy, CURLOPT_ERRORBUFFER, nil)
        }
        onDone(handle)
        let cause = failure
        state.withLock { state in
            // The reason of a callback that refused the answer is more exact than libcurl's.
            if state.failure == nil { state.failure = cause }
            state.isDone = true
        }
        notify()
    }

    private func transfer() -> CURLcode {
        guard curl_multi_add_handle(handle.multi, handle.easy) == CURLM_OK else { return CURLE_FAILED_INIT }
        defer { curl_multi_remove_handle(handle.multi, handle.easy) }
        while true {
            var running: Int32 = 0
            guard curl_multi_perform(handle.multi, &running) == CURLM_OK else { return CURLE_RECV_ERROR }
            if running == 0 { return tandem_multi_result(handle.multi) }
            let (isCancelled, resume, delay) = state.withLock { state in
                let delay = state.isPaused ? state.delay() : 0
                let resume = state.isPaused && delay == 0 && state.queued < limits.queuedAnswerBytes / 2
                if resume { state.isPaused = false }
                return (state.isCancelled, resume, delay)
            }
            if isCancelled { return CURLE_ABORTED_BY_CALLBACK }
            if resume {
                let code = curl_easy_pause(handle.easy, CURLPAUSE_CONT)
                if code != CURLE_OK { return code }
                continue
            }
            let milliseconds = delay > 0 ? Int32(min(delay, 1_000)) : 1_000
            guard curl_multi_poll(handle.multi, nil, 0, milliseconds, nil) == CURLM_OK else { return CURLE_RECV_ERROR }
        }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlExchange? {
        context.map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    /// - Returns: The number of bytes taken; any other number ends the transfer, or pauses it.
    private func received(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes, count > 0 else { return 0 }
        let taken = state.withLock { state in
            guard state.delay() == 0, state.queued + count <= limits.queuedAnswerBytes || state.pieces.isEmpty else {
                state.isPaused = true
                return tandem_pause()
            }
            guard count <= bodyLimit - state.received else {
                state.failure = SyncError(
                    .tooLarge, "\(party.name) answered with more than \(bodyLimit) bytes",
                    hint: party.sizeHint)
                return 0
            }
            state.received += count
            state.queued += count
            state.pieces.append([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))
            return count
        }
        notify()
        return taken
    }

    private func receivedHeader(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes else { return 0 }
        let line = [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
        let taken = state.withLock { state in
            state.headerBytes += count
            guard state.headerBytes <= limits.responseHeaderBytes else {
                state.failure = SyncError(
                    .tooLarge,
                    "\(party.name) answered with more than \(limits.responseHeaderBytes) bytes of header lines",
                    hint: party.sizeHint)
                return 0
            }
            state.incoming.add(line)
            // An empty line ends the header lines. The lines of an interim answer (1xx) are followed by those
            // of the final one.
            if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }), state.incoming.status >= 200, state.head == nil {
                state.head = state.incoming
            }
            return count
        }
        notify()
        return taken
    }
}
