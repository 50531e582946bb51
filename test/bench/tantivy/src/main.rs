//! Native Tantivy as a peer of `npm run bench`: it gets the terms of kb's analyzer, so both engines index the same tokens.
//!
//!     kb-bench-tantivy build FOLDER    documents on standard input, one JSON object a line; answers with the seconds
//!     kb-bench-tantivy search FOLDER   questions on standard input, one JSON object a line; answers each with a line
//!
//! A question is answered with its ten best items and the exact number of visible ones. The time is that of the search
//! alone: reading the question, parsing it and writing the answer aren't in it.

use std::collections::HashMap;
use std::io::{stdin, stdout, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, TermQuery, TermSetQuery};
use tantivy::schema::{
    Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, FAST, INDEXED,
};
use tantivy::{Index, IndexWriter, Searcher, TantivyDocument, Term};

mod visible_set;
use visible_set::{VisibleSet, VisibleSetQuery};

const WRITER_BYTES: usize = 400_000_000;
const LIMIT: usize = 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// Terms with spaces between, each as often as it counts.
    terms: String,
    /// Numbers of the principals who may see it.
    principals: Vec<u64>,
    /// Milliseconds since 1970.
    updated_at: u64,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Order {
    Relevance,
    Recency,
}

#[derive(Deserialize)]
struct Question {
    order: Order,
    /// How many of the terms an item must have.
    minimum: usize,
    /// `terms`: a term set in the query; `kept`: a bit set of the viewer, made once.
    access: String,
    terms: Vec<String>,
    principals: Vec<u64>,
}

#[derive(Serialize)]
struct Answer {
    ms: f64,
    total: usize,
}

struct Fields {
    text: Field,
    principals: Field,
    updated_at: Field,
}

fn main() -> tantivy::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["build", folder] => build(Path::new(folder)),
        ["search", folder] => search(Path::new(folder)),
        _ => panic!("usage: kb-bench-tantivy build|search FOLDER"),
    }
}

/// One thread writes, and all segments are merged into one: the state that is fastest to search.
fn build(folder: &Path) -> tantivy::Result<()> {
    std::fs::create_dir_all(folder)?;
    let (schema, fields) = make_schema();
    let index = Index::create_in_dir(folder, schema)?;
    let start = Instant::now();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
    for line in stdin().lock().lines() {
        let document: Document = serde_json::from_str(&line?).expect("a document");
        let mut entry = TantivyDocument::default();
        entry.add_text(fields.text, document.terms);
        entry.add_u64(fields.updated_at, document.updated_at);
        for principal in document.principals {
            entry.add_u64(fields.principals, principal);
        }
        writer.add_document(entry)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}

fn search(folder: &Path) -> tantivy::Result<()> {
    let index = Index::open_in_dir(folder)?;
    let searcher = index.reader()?.searcher();
    let fields = fields_of(&index.schema());
    let mut kept: HashMap<Vec<u64>, Arc<VisibleSet>> = HashMap::new();
    for line in stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?).expect("a question");
        let access: Box<dyn Query> = if question.access == "kept" {
            if !kept.contains_key(&question.principals) {
                let set = VisibleSet::of(&searcher, fields.principals, &question.principals)?;
                kept.insert(question.principals.clone(), Arc::new(set));
            }
            Box::new(VisibleSetQuery(kept[&question.principals].clone()))
        } else {
            Box::new(term_set(&fields, &question.principals))
        };
        let start = Instant::now();
        let total = answer(&searcher, &fields, &question, access)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        println!(
            "{}",
            serde_json::to_string(&Answer { ms, total }).expect("an answer")
        );
        stdout().flush()?;
    }
    Ok(())
}

fn answer(
    searcher: &Searcher,
    fields: &Fields,
    question: &Question,
    access: Box<dyn Query>,
) -> tantivy::Result<usize> {
    let is_all = question.minimum == question.terms.len();
    let occur = if is_all { Occur::Must } else { Occur::Should };
    let words = question.terms.iter().map(|term| {
        let term = Term::from_field_text(fields.text, term);
        (
            occur,
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)) as Box<dyn Query>,
        )
    });
    let mut words = BooleanQuery::new(words.collect());
    if !is_all && question.minimum > 1 {
        words.set_minimum_number_should_match(question.minimum);
    }
    let query = BooleanQuery::new(vec![
        (Occur::Must, Box::new(words)),
        (Occur::Must, Box::new(ConstScoreQuery::new(access, 0.0))),
    ]);
    if question.order == Order::Recency {
        let newest = TopDocs::with_limit(LIMIT)
            .order_by_fast_field::<u64>("updatedAt", tantivy::Order::Desc);
        return Ok(searcher.search(&query, &(newest, Count))?.1);
    }
    Ok(searcher
        .search(&query, &(TopDocs::with_limit(LIMIT), Count))?
        .1)
}

fn term_set(fields: &Fields, principals: &[u64]) -> TermSetQuery {
    TermSetQuery::new(
        principals
            .iter()
            .map(|number| Term::from_field_u64(fields.principals, *number)),
    )
}

fn make_schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    // Terms come ready, and nothing here asks for phrases.
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::WithFreqs);
    builder.add_text_field(
        "text",
        TextOptions::default().set_indexing_options(indexing),
    );
    builder.add_u64_field("principals", INDEXED);
    builder.add_u64_field("updatedAt", FAST);
    let schema = builder.build();
    let fields = fields_of(&schema);
    (schema, fields)
}

fn fields_of(schema: &Schema) -> Fields {
    let field = |name| schema.get_field(name).expect("a field of the schema");
    Fields {
        text: field("text"),
        principals: field("principals"),
        updated_at: field("updatedAt"),
    }
}
