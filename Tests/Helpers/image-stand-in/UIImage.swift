import Foundation

/// As much of UIKit's class as libraries that store images in files use. An image is its bytes, which
/// begin with a mark of their own, so that other data are no image.
///
/// `scripts/compatibility` compiles it into such libraries, since nothing on Linux has the class.
public final class UIImage: Equatable, Sendable {
    private let bytes: Data

    /// Nil if the data are no image.
    public init?(data: Data) {
        guard data.starts(with: Data("image ".utf8)) else { return nil }
        bytes = data
    }

    /// An image that differs for each name.
    public convenience init?(
        named name: String, in bundle: Bundle?, compatibleWith traits: Never?
    ) {
        self.init(data: Data("image \(name)".utf8))
    }

    /// The bytes of the image.
    public func pngData() -> Data? { bytes }

    /// The bytes of the image, whatever the quality.
    public func jpegData(compressionQuality: Double) -> Data? { bytes }

    /// Whether both have the same bytes.
    public static func == (left: UIImage, right: UIImage) -> Bool { left.bytes == right.bytes }
}
