import FoundationEssentials

/// The type that generated protobuf code uses for bytes, so that the codec itself needs no Foundation.
func wireData(_ bytes: some Collection<UInt8>) -> Data { Data(bytes) }
