import FileTree
import ResourceValues
import StoragePolicy
import SystemPackage

print(try FilePath(CommandLine.arguments[1]).withoutFollowing.marks())
