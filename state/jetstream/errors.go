package jetstream

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
)

// Server error codes that nats.go has no name for (nats-server errors.json).
const (
	errNoPeers         jetstream.ErrorCode = 10005 // JSClusterNoPeersErrF: none has the room
	errNoLeader        jetstream.ErrorCode = 10008 // JSClusterNotAvailErr: nobody leads, or is reached
	errInsufficient    jetstream.ErrorCode = 10023 // JSInsufficientResourcesErr
	errMemoryExceeded  jetstream.ErrorCode = 10028 // JSMemoryResourcesExceededErr
	errStorageExceeded jetstream.ErrorCode = 10047 // JSStorageResourcesExceededErr
	errMaxBytes        jetstream.ErrorCode = 10122 // JSStreamMaxStreamBytesExceeded
	errStoreFailed     jetstream.ErrorCode = 10077 // JSStreamStoreFailedF: a write to disk failed
	errRestoreExists   jetstream.ErrorCode = 10130 // JSStreamNameExistRestoreFailedErr
	errNoBatches       jetstream.ErrorCode = 10174 // JSAtomicPublishDisabledErr
	errBatchIncomplete jetstream.ErrorCode = 10176 // JSAtomicPublishIncompleteBatchErr: the leader changed, or a message was lost
	errBatchTooLarge   jetstream.ErrorCode = 10199 // JSAtomicPublishTooLargeBatchErrF
	errTooManyBatches  jetstream.ErrorCode = 10210 // JSAtomicPublishTooManyInflight
)

// errAnswer is a server that does not answer a batch as one.
var errAnswer = errors.New("the answer is not that of a batch")

func noBatches(op, stream string) error {
	return protocol.Errorf(protocol.CodeUnsupported, op, "stream %q has no atomic batches", stream).
		WithHint("run nats-server 2.12 or newer on all servers of the cluster")
}

// mapError gives the error of a write a code and a hint. what is the key,
// subject or stream that the call was about.
func mapError(op, what string, err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, context.Canceled):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: stopped by the caller, the outcome is unknown: %w", what, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: the store did not answer in time, and whether it was written is unknown: %w", what, err).
			WithHint("read it back before you try again; if it stays so, look at the log and the disk of the hub, or of your NATS servers, which must be started again after a full disk")
	case errors.Is(err, errUnderWay):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: whether it was written is unknown: %w", what, err).
			WithHint("read it back before you try again")
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s: nothing answers for the store: %w", what, err).
			WithHint("it is being started, or too few of its servers run: try again; if it stays so, look at the hub's log, or at your NATS servers")
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return protocol.Errorf(protocol.CodeNotFound, op, "%s: %w", what, state.ErrNotFound)
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining), errors.Is(err, jetstream.ErrConnectionClosed):
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s: the NATS connection is closed: %w", what, state.ErrClosed)
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum):
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: the value is larger than the NATS server accepts: %w", what, err).
			WithHint("make the object smaller, or raise max_payload of the NATS server")
	case errors.As(err, &api):
		return mapAPIError(op, what, api, err)
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%s: NATS: %w", what, err).
		WithHint("check the NATS server's log and that JetStream is on")
}

// readError is mapError of a call that writes nothing.
func readError(op, what string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: stopped by the caller: %w", what, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return protocol.Errorf(protocol.CodeTimeout, op, "%s: the store did not answer in time: %w", what, err).
			WithHint("try again; if it stays so, look at the log and the disk of the hub, or of your NATS servers, which must be started again after a full disk")
	}
	return mapError(op, what, err)
}

func mapAPIError(op, what string, api *jetstream.APIError, err error) error {
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return protocol.Errorf(protocol.CodeConflict, op, "%s: the revision is not the current one: %w", what, state.ErrConflict)
	case errNoBatches:
		return noBatches(op, what)
	case errBatchIncomplete, errTooManyBatches:
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s: nothing was written: %w", what, err).
			WithHint("try again")
	case errBatchTooLarge:
		return protocol.Errorf(protocol.CodeInvalid, op, "%s: the NATS server takes smaller batches: %w", what, err).
			WithHint("commit less at once, or raise max_batch_size of the NATS server")
	case errInsufficient, errMemoryExceeded, errStorageExceeded, errStoreFailed:
		return protocol.Errorf(protocol.CodeUnavailable, op, "%s: JetStream has insufficient storage: %w", what, err).
			WithHint("free space in the JetStream store directory of the NATS server, or raise max_file_store")
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "%s: JetStream refused: %w", what, err).
		WithHint("check the NATS server's log, the account's permissions and its JetStream limits")
}
