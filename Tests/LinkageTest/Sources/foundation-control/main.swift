import Foundation

print(URL(fileURLWithPath: "/").path)
