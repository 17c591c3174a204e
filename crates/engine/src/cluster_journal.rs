//! The journal's copy in the cluster: who holds the run, and every record up to the last change that was announced.
//!
//! One object, the [head](head::Head), is advanced by compare-and-swap *before* each change is sent. Whoever holds a run
//! no more finds that out at its next advance, and sends nothing more; so at most one request of a process that was
//! frozen between its advance and its request leaves after another took the run over, and that request is for one
//! incarnation ([`zombie`](crate::zombie)).
//!
//! Knows nothing of Kubernetes but what [`Objects`] says: small objects that are created, read and swapped.

mod claim;
mod head;
mod in_memory;
mod objects;
mod read;
mod reconcile;

pub use self::claim::{ClaimError, Claimant, Watching, begin, free, take};
pub use self::head::{Head, Holder, LEASE, Release, takeover_after};
pub use self::in_memory::InMemory;
pub use self::objects::{HEAD, Objects, ObjectsError, Stored, Version, WriteError};
pub use self::read::{Copied, CopyError, read};
pub use self::reconcile::{Winner, compare};

use rehome_model::journal::{Event, Record};
use rehome_model::{Seconds, Timestamp};

use self::head::Segment;
use crate::journal::{self, JournalStore, StoreFailed};

/// How many bytes of records the head itself carries before they are moved into an object of their own.
///
/// Every advance writes the head anew, and etcd keeps each version until it is compacted (every 5 minutes, kube-apiserver
/// `--etcd-compaction-interval`): with 32 KiB, 9,000 moves leave about 150 MB behind, of the 2 GiB that etcd has room for
/// by default (`--quota-backend-bytes`).
const TAIL_LIMIT: usize = 32 * 1024;

/// How much text goes into one object: half of what a ConfigMap may hold (1 MiB: `k8s.io/api/core/v1`, `MaxSecretSize`).
const PART: usize = 512 * 1024;

/// How long an advance is tried again while the API server does not answer: a restart, a certificate that rotates, an
/// election of etcd. Nothing is sent meanwhile.
const PATIENCE: Seconds = Seconds::new(600);

/// How long between two tries.
const TRY_AGAIN: Seconds = Seconds::new(2);

/// The copy in the cluster, held by this process.
#[derive(Debug)]
pub struct ClusterJournal<O> {
    objects: O,
    head: Head,
    version: Version,
    /// Lines that the head carries.
    tail: String,
    /// Lines that go up with the next advance.
    pending: String,
    /// When the head was last written, by our clock.
    renewed: Timestamp,
    /// Set once the run was lost, or a record could not be kept.
    failed: Option<StoreFailed>,
}

impl<O: Objects> ClusterJournal<O> {
    fn new(objects: O, head: Head, version: Version, tail: String, now: Timestamp) -> Self {
        Self { objects, head, version, tail, pending: String::new(), renewed: now, failed: None }
    }

    /// What the head says.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The port.
    #[must_use]
    pub fn objects(&self) -> O
    where
        O: Clone,
    {
        self.objects.clone()
    }

    /// The port, for whoever goes on with it.
    #[must_use]
    pub fn into_objects(self) -> O {
        self.objects
    }

    /// Takes up records that the copy does not have yet, without writing: they go up with the next advance.
    ///
    /// # Errors
    /// A record has no JSON.
    pub fn ahead(&mut self, records: &[Record]) -> Result<(), StoreFailed> {
        records.iter().try_for_each(|record| self.take_up(record))
    }

    /// Leaves the place to others: nothing has begun.
    ///
    /// # Errors
    /// The head could not be written.
    pub fn give_up(&mut self, now: Timestamp) -> Result<(), StoreFailed> {
        self.advance(now, Some(Release::RolledBack))
    }

    fn take_up(&mut self, record: &Record) -> Result<(), StoreFailed> {
        let unwritable = |error: &dyn std::fmt::Display| StoreFailed::Unwritable { message: error.to_string() };
        self.pending.push_str(&journal::line(record).map_err(|error| unwritable(&error))?);
        self.head.next_seq = record.seq + 1;
        self.head.last = rehome_model::Digest::of(record).map_err(|error| unwritable(&error))?;
        Ok(())
    }

    /// Writes the head with all records so far.
    fn advance(&mut self, now: Timestamp, released: Option<Release>) -> Result<(), StoreFailed> {
        let mut lines = format!("{}{}", self.tail, self.pending);
        if lines.len() > TAIL_LIMIT {
            self.seal(&lines, now)?;
            lines.clear();
        }
        let head = Head { renewed: now, released, ..self.head.clone() };
        let data = head.data(&lines).map_err(|error| StoreFailed::Unwritable { message: error.to_string() })?;
        let version = self.insist(now, |this| match this.objects.swap(HEAD, &this.version, &data) {
            Ok(version) => Ok(Some(version)),
            // Ours may have landed although no answer came; then another process cannot have written since.
            Err(WriteError::Conflict) => match this.objects.get(HEAD) {
                Ok(Some(stored)) if stored.data == data => Ok(Some(stored.version)),
                Ok(Some(stored)) => Err(this.superseded(Head::parse(&stored.data).ok().as_ref())),
                Ok(None) => Err(this.superseded(None)),
                Err(error) => read_failed(error),
            },
            Err(WriteError::Gone) => Err(this.superseded(None)),
            Err(WriteError::NoAnswer(_)) => Ok(None),
            Err(WriteError::Refused(message)) => Err(StoreFailed::Unwritable { message }),
        })?;
        (self.head, self.version, self.tail, self.renewed) = (head, version, lines, now);
        self.pending.clear();
        Ok(())
    }

    /// Moves lines out of the head, into objects that never change. They are read as one text: a line may be cut.
    fn seal(&mut self, lines: &str, now: Timestamp) -> Result<(), StoreFailed> {
        let run = self.head.run.clone();
        for piece in pieces(lines) {
            let name = self.head.segment_name();
            let data = [(head::JOURNAL.to_owned(), piece.to_owned())].into();
            self.insist(now, |this| match this.objects.create(&name, &run, &data) {
                Ok(_) => Ok(Some(())),
                // A create whose answer did not come.
                Err(WriteError::Conflict) => match this.objects.get(&name) {
                    Ok(Some(stored)) if stored.data == data => Ok(Some(())),
                    Ok(_) => {
                        Err(StoreFailed::Unwritable { message: format!("{name} exists, with other records in it") })
                    }
                    Err(error) => read_failed(error),
                },
                Err(WriteError::NoAnswer(_)) => Ok(None),
                Err(WriteError::Refused(message)) => Err(StoreFailed::Unwritable { message }),
                Err(WriteError::Gone) => Err(StoreFailed::Unwritable { message: "the namespace is gone".to_owned() }),
            })?;
            self.head.segments.push(Segment { name, bytes: piece.len() as u64 });
        }
        Ok(())
    }

    /// Who holds the run now, as far as is known.
    fn superseded(&self, by: Option<&Head>) -> StoreFailed {
        match by {
            Some(head) => StoreFailed::Superseded { by: head.holder.to_string(), run: head.run.clone() },
            None => StoreFailed::Superseded {
                by: "somebody who deleted or rewrote the head of its journal".to_owned(),
                run: self.head.run.clone(),
            },
        }
    }

    /// Tries until it is known, as long as there is patience. Who does not want to wait interrupts a second time.
    fn insist<T>(
        &mut self,
        now: Timestamp,
        mut attempt: impl FnMut(&mut Self) -> Result<Option<T>, StoreFailed>,
    ) -> Result<T, StoreFailed> {
        let begun = self.objects.now().max(now);
        loop {
            if let Some(known) = attempt(self)? {
                return Ok(known);
            }
            if self.objects.now() > begun + PATIENCE {
                let message = "the API server does not answer, and the journal's copy there could not be written";
                return Err(StoreFailed::Unwritable { message: message.to_owned() });
            }
            self.objects.pause(TRY_AGAIN);
        }
    }
}

/// What a read that failed means for an attempt: it is not known, or it cannot be known.
fn read_failed<T>(error: ObjectsError) -> Result<Option<T>, StoreFailed> {
    match error {
        ObjectsError::NoAnswer(_) => Ok(None),
        ObjectsError::Refused(message) => Err(StoreFailed::Unwritable { message }),
    }
}

/// The records that go up at once: those that announce a change or claim the run, and those with which it comes to rest.
/// All others are derived from the cluster again if they are lost with the process, and go up with the next of these.
fn goes_up(event: &Event) -> bool {
    matches!(
        event,
        Event::RunStarted { .. }
            | Event::Resumed { .. }
            | Event::UndoStarted {}
            | Event::Intent { .. }
            | Event::Stuck { .. }
            | Event::Interrupted {}
            | Event::Finished { .. }
    )
}

/// A text in pieces that fit into an object each.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PART));
        rest = after;
        Some(piece).filter(|piece| !piece.is_empty())
    })
}

impl<O: Objects> JournalStore for ClusterJournal<O> {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let kept = self.take_up(record).and_then(|()| match Release::of(&record.event) {
            None if !goes_up(&record.event) => Ok(()),
            released => self.advance(record.at, released),
        });
        kept.inspect_err(|failed| self.failed = Some(failed.clone()))
    }

    fn keep_alive(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreFailed> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let due = self.renewed + head::RENEW;
        if now < due {
            return Ok(Some(due));
        }
        // A head that was let go of is nobody's to renew.
        if self.head.released.is_none() {
            self.advance(now, None).inspect_err(|failed| self.failed = Some(failed.clone()))?;
        }
        Ok(Some(now + head::RENEW))
    }
}

#[cfg(test)]
mod tests;
