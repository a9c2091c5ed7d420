import CCompression

/// The encoding in which the payload of a frame travels.
public enum PayloadEncoding: Int, Sendable, Hashable, CaseIterable {
    /// Not compressed.
    case none = 1
    /// gzip (RFC 1952).
    case gzip = 2
    /// zstd (RFC 8878).
    case zstd = 3

    /// The encoding with the name `none`, `gzip` or `zstd`; nil for another one.
    public init?(name: String) {
        guard let known = PayloadEncoding.allCases.first(where: { "\($0)" == name }) else { return nil }
        self = known
    }

    /// Compresses `bytes`; the result needs no other data to be decompressed.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isFast: True to spend half of the time, for a somewhat longer result.
    /// - Throws: ``WireError/Code/malformed`` only when the library is out of memory.
    public func compress(_ bytes: [UInt8], isFast: Bool = false) throws(WireError) -> [UInt8] {
        switch self {
        case .none: bytes
        case .gzip: try Gzip.compress(bytes, level: isFast ? Gzip.fastLevel : Gzip.level)
        case .zstd: try Zstd.compress(bytes, level: isFast ? Zstd.fastLevel : Zstd.level)
        }
    }

    /// Reverses `compress(_:)`, for untrusted bytes.
    ///
    /// It decompresses in blocks and never allocates by a declared size: memory is at most `limit` and one
    /// block for any input.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - limit: The most bytes to return.
    ///   - limits: The limits, of which the window counts.
    ///   - expected: The size that the caller counts on; memory for as much is taken at once, up to `limit`.
    /// - Throws: ``WireError`` for a damaged, unfinished or too large input, for one that asks for a large
    ///   window, and for bytes after its end.
    public func decompress(
        _ bytes: [UInt8], limit: Int, limits: Limits, expected: Int = 0
    ) throws(WireError) -> [UInt8] {
        switch self {
        case .none:
            guard bytes.count <= limit else { throw .tooLarge("\(bytes.count) bytes") }
            return bytes
        case .gzip: return try Gzip.decompress(bytes, DecompressedOutput(limit: limit, expected: expected))
        case .zstd:
            return try Zstd.decompress(
                bytes, DecompressedOutput(limit: limit, expected: expected), windowLog: limits.zstdWindowLog)
        }
    }

    /// The best of `accepted`, in the order zstd, gzip, none. A peer that names no encoding reads all of
    /// them.
    static func best(of accepted: [PayloadEncoding]) -> PayloadEncoding {
        if accepted.isEmpty || accepted.contains(.zstd) { return .zstd }
        return accepted.contains(.gzip) ? .gzip : .none
    }
}

/// The output of a decoder, collected block by block.
struct DecompressedOutput {
    static let blockBytes = 128 << 10

    private(set) var bytes: [UInt8] = []
    private let limit: Int

    init(limit: Int, expected: Int = 0) {
        self.limit = limit
        bytes.reserveCapacity(min(limit, expected))
    }

    /// - Throws: ``WireError/Code/tooLarge`` when the output exceeds the limit.
    mutating func append(_ block: UnsafeRawBufferPointer) throws(WireError) {
        guard block.count <= limit - bytes.count else { throw .tooLarge("it expands to more than \(limit) bytes") }
        bytes.append(contentsOf: block)
    }
}

/// zstd (RFC 8878) through the system's library.
enum Zstd {
    /// Measured with changes: 259 MB/s compressing, 1.4 GB/s decompressing. Higher levels cost more than they
    /// save.
    static let level: Int32 = 3
    static let fastLevel: Int32 = 1

    static func compress(_ bytes: [UInt8], level: Int32 = level) throws(WireError) -> [UInt8] {
        var failed = false
        let result = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { target, count in
            let written = ZSTD_compress(target.baseAddress, target.count, bytes, bytes.count, level)
            failed = ZSTD_isError(written) != 0
            count = failed ? 0 : written
        }
        guard !failed else { throw .malformed("zstd cannot compress") }
        return result
    }

    static func decompress(
        _ bytes: [UInt8], _ output: consuming DecompressedOutput, windowLog: Int32
    ) throws(WireError) -> [UInt8] {
        guard let context = ZSTD_createDCtx() else { throw .malformed("zstd has no memory") }
        defer { ZSTD_freeDCtx(context) }
        guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLog)) == 0 else {
            throw .malformed("zstd refuses its window limit")
        }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: DecompressedOutput.blockBytes, alignment: 16)
        defer { block.deallocate() }
        var consumed = 0
        while true {
            var target = ZSTD_outBuffer(dst: block.baseAddress, size: block.count, pos: 0)
            let before = consumed
            let hint = bytes.withUnsafeBytes { source in
                var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: consumed)
                defer { consumed = input.pos }
                return ZSTD_decompressStream(context, &target, &input)
            }
            guard ZSTD_isError(hint) == 0 else { throw .malformed("not a zstd frame within the window limit") }
            try output.append(UnsafeRawBufferPointer(rebasing: block[..<target.pos]))
            if hint == 0 { break }
            // Nothing was read and nothing written: the input ended before the frame did.
            guard consumed > before || target.pos > 0 else { throw WireError(.truncated, "the zstd frame is cut off") }
        }
        guard consumed == bytes.count else { throw .malformed("bytes after the end of the zstd frame") }
        return output.bytes
    }
}

/// gzip (RFC 1952) through zlib.
enum Gzip {
    static let level: Int32 = 6
    static let fastLevel: Int32 = 1

    /// 15 bits of window, plus 16 for a gzip header instead of zlib's (zlib.h, deflateInit2).
    private static let windowBits: Int32 = 15 + 16
    private static let streamBytes = Int32(MemoryLayout<z_stream>.size)

    static func compress(_ bytes: [UInt8], level: Int32 = level) throws(WireError) -> [UInt8] {
        var stream = z_stream()
        let opened = deflateInit2_(
            &stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, streamBytes)
        guard opened == Z_OK else { throw .malformed("zlib has no memory") }
        defer { deflateEnd(&stream) }
        guard let size = UInt32(exactly: bytes.count) else { throw .tooLarge("\(bytes.count) bytes for gzip") }
        var input = bytes
        var finished = false
        let bound = Int(deflateBound(&stream, UInt(size)))
        let result = [UInt8](unsafeUninitializedCapacity: bound) { target, count in
            input.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress
                stream.avail_in = size
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(clamping: target.count)
                finished = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = finished ? Int(stream.total_out) : 0
            }
        }
        guard finished else { throw .malformed("zlib cannot compress") }
        return result
    }

    static func decompress(_ bytes: [UInt8], _ output: consuming DecompressedOutput) throws(WireError) -> [UInt8] {
        guard let size = UInt32(exactly: bytes.count) else { throw .tooLarge("\(bytes.count) bytes of gzip") }
        var stream = z_stream()
        guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, streamBytes) == Z_OK else {
            throw .malformed("zlib has no memory")
        }
        defer { inflateEnd(&stream) }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: DecompressedOutput.blockBytes, alignment: 16)
        defer { block.deallocate() }
        var input = bytes
        var left = size
        while true {
            var written = 0
            let status = input.withUnsafeMutableBufferPointer { source in
                stream.next_in = source.baseAddress.map { $0 + Int(size - left) }
                stream.avail_in = left
                stream.next_out = block.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.avail_out = UInt32(clamping: block.count)
                let status = inflate(&stream, Z_NO_FLUSH)
                left = stream.avail_in
                written = block.count - Int(stream.avail_out)
                return status
            }
            try output.append(UnsafeRawBufferPointer(rebasing: block[..<written]))
            if status == Z_STREAM_END { break }
            if status == Z_BUF_ERROR || (status == Z_OK && written == 0 && left == 0) {
                throw WireError(.truncated, "the gzip stream is cut off")
            }
            guard status == Z_OK else { throw .malformed("not a gzip stream") }
        }
        guard left == 0 else { throw .malformed("bytes after the end of the gzip stream") }
        return output.bytes
    }
}
