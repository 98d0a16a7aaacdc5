package ignition

import (
	"strconv"
	"strings"

	shared "github.com/coreos/ignition/v2/config/shared/errors"
)

const notValid = "is not valid"

// plain is what a library says of a field, if it is a sentence of its own that quotes
// nothing.
func plain(message string) string {
	for _, err := range []error{
		shared.ErrDuplicate, shared.ErrCompressionInvalid, shared.ErrFileUsedSymlink, shared.ErrDirectoryUsedSymlink, shared.ErrLinkUsedSymlink,
		shared.ErrLinkTargetRequired, shared.ErrHardLinkToDirectory, shared.ErrDiskDeviceRequired, shared.ErrPartitionNumbersCollide,
		shared.ErrPartitionsOverlap, shared.ErrPartitionsMisaligned, shared.ErrOverwriteAndNilSource, shared.ErrVerificationAndNilSource,
		shared.ErrFilesystemInvalidFormat, shared.ErrLabelNeedsFormat, shared.ErrFormatNilWithOthers, shared.ErrLuksNameContainsSlash,
		shared.ErrInvalidLuksKeyFile, shared.ErrUnknownClevisPin, shared.ErrTangThumbprintRequired, shared.ErrFileIllegalMode,
		shared.ErrBothIDAndNameSet, shared.ErrLabelTooLong, shared.ErrNoPath, shared.ErrPathRelative, shared.ErrDirtyPath,
		shared.ErrRaidLevelRequired, shared.ErrUnrecognizedRaidLevel, shared.ErrRaidDevicesRequired, shared.ErrShouldNotExistWithOthers,
		shared.ErrNeedLabelOrNumber, shared.ErrInvalidProxy, shared.ErrPathConflictsSystemd, shared.ErrInvalidSystemdExt,
		shared.ErrInvalidSystemdDropinExt, shared.ErrNoSystemdExt, shared.ErrSourceRequired, shared.ErrInvalidScheme, shared.ErrInvalidUrl,
		shared.ErrInvalidHTTPHeader, shared.ErrEmptyHTTPHeaderName, shared.ErrUnsupportedSchemeForHTTPHeaders, shared.ErrHashMalformed,
		shared.ErrHashWrongSize, shared.ErrHashUnrecognized, shared.ErrDuplicateLabels, shared.ErrZeroesWithShouldNotExist,
		shared.ErrLabelContainsColon, shared.ErrDoesntMatchGUIDRegex, shared.ErrSparesUnsupportedForLevel, shared.ErrExt4LabelTooLong,
		shared.ErrBtrfsLabelTooLong, shared.ErrXfsLabelTooLong, shared.ErrSwapLabelTooLong, shared.ErrVfatLabelTooLong,
		shared.ErrLuksLabelTooLong, shared.ErrInvalidInstantiatedUnit, shared.ErrInvalidS3ObjectVersionId, shared.ErrInvalidS3ARN,
	} {
		if message == err.Error() {
			return message
		}
	}
	return notValid
}

// known cuts a path at its first part that no field of a specification can be called.
func known(path string) string {
	const most = 40 // characters; the longest field has 22
	var kept []string
	for part := range strings.SplitSeq(path, ".") {
		name, _, _ := strings.Cut(part, "[")
		if len(part) > most || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$0123456789") != "" {
			break
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ".")
}

func itoa(n int) string { return strconv.Itoa(n) }
