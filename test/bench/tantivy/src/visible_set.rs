//! What a viewer sees as a bit set of each segment, made once and kept: the most favourable form of a permission filter.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use common::BitSet;
use tantivy::index::SegmentId;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, Searcher, SegmentReader, TantivyError, Term, TERMINATED};

pub struct VisibleSet(HashMap<SegmentId, BitSet>);

impl VisibleSet {
    pub fn of(
        searcher: &Searcher,
        field: Field,
        principals: &[u64],
    ) -> tantivy::Result<VisibleSet> {
        let mut sets = HashMap::new();
        for segment in searcher.segment_readers() {
            let mut visible = BitSet::with_max_value(segment.max_doc());
            let index = segment.inverted_index(field)?;
            for principal in principals {
                let term = Term::from_field_u64(field, *principal);
                let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)?
                else {
                    continue;
                };
                while postings.doc() != TERMINATED {
                    visible.insert(postings.doc());
                    postings.advance();
                }
            }
            sets.insert(segment.segment_id(), visible);
        }
        Ok(VisibleSet(sets))
    }
}

#[derive(Clone)]
pub struct VisibleSetQuery(pub Arc<VisibleSet>);

/// A query must have it; a bit set has none.
impl Debug for VisibleSetQuery {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("VisibleSetQuery")
    }
}

impl Query for VisibleSetQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(VisibleSetWeight(self.0.clone())))
    }
}

struct VisibleSetWeight(Arc<VisibleSet>);

impl Weight for VisibleSetWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let visible = self.0 .0[&segment.segment_id()].clone();
        Ok(Box::new(ConstScorer::new(
            BitSetDocSet::from(visible),
            boost,
        )))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument("not explained".to_owned()))
    }
}
