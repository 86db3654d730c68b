//! Whether two versions of a bench's source measure the same thing.
//!
//! A changed file is not a changed benchmark: adding one to a file of fifty leaves fifty comparable. So both versions
//! are parsed and cut into pieces - top-level items, and the statements of functions that changed - and only pieces
//! that differ count. Which scenarios a piece touches is a conclusion and drawn in `judge` from the literals kept here.

use crate::recording::ChangedPiece;
use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;

/// Sources of one bench target on one side: text by path relative to the tree.
pub type Sources = BTreeMap<String, String>;

/// The pieces of a bench's source that differ. Formatting, comments, attributes of documentation, `use` lines, the
/// `criterion_group!` and `criterion_main!` lists, and functions or types that only one side has do not count: they
/// rarely change what a benchmark of the same id measures without another piece changing too. An import that names
/// another function under the same name does, and is overlooked: counting imports would bar every row whenever a module
/// of the library moves.
///
/// A file that is not Rust, or that the parser does not understand, is one piece without literals.
#[must_use]
pub fn changed_pieces(base: &Sources, head: &Sources) -> Vec<ChangedPiece> {
    let files: BTreeSet<&String> = base.keys().chain(head.keys()).collect();
    let mut changed = Vec::new();
    for file in files {
        let (base, head) = (base.get(file), head.get(file));
        if base == head {
            continue;
        }
        let empty = String::new();
        let parsed = (
            syn::parse_file(base.unwrap_or(&empty)),
            syn::parse_file(head.unwrap_or(&empty)),
        );
        match parsed {
            (Ok(base), Ok(head)) if file.ends_with(".rs") => {
                changed.extend(changed_items(file, &base, &head))
            }
            _ => changed.push(ChangedPiece {
                file: file.clone(),
                line: 1,
                literals: Vec::new(),
                run_file: false,
            }),
        }
    }
    changed
}

fn changed_items(file: &str, base: &syn::File, head: &syn::File) -> Vec<ChangedPiece> {
    let (base, head) = (items(base), items(head));
    let mut changed = Vec::new();
    for (name, here) in &head {
        match base.get(name) {
            Some(there) if tokens(there) == tokens(here) => {}
            Some(there) => match (function(there), function(here)) {
                (Some(before), Some(after)) if signature(before) == signature(after) => {
                    changed.extend(changed_statements(file, &before.block, &after.block));
                }
                _ => changed.push(piece(file, here)),
            },
            None if name.has_effect_by_existing() => changed.push(piece(file, here)),
            None => {}
        }
    }
    let gone = base
        .iter()
        .filter(|(name, _)| name.has_effect_by_existing() && !head.contains_key(*name));
    changed.extend(gone.map(|(_, there)| piece(file, there)));
    changed
}

/// Statements that one version of a function has more often than the other; their order does not count.
/// Of the two versions of an edited statement, which have the same literals, head's is kept.
fn changed_statements(file: &str, before: &syn::Block, after: &syn::Block) -> Vec<ChangedPiece> {
    let mut balance: BTreeMap<String, i32> = BTreeMap::new();
    for statement in &before.stmts {
        *balance.entry(tokens(statement)).or_default() -= 1;
    }
    for statement in &after.stmts {
        *balance.entry(tokens(statement)).or_default() += 1;
    }
    let pieces = |block: &syn::Block, surplus: fn(i32) -> bool| -> Vec<ChangedPiece> {
        let statements = block
            .stmts
            .iter()
            .filter(|statement| surplus(balance[&tokens(*statement)]));
        statements.map(|statement| piece(file, statement)).collect()
    };
    let mut changed = pieces(after, |count| count > 0);
    for gone in pieces(before, |count| count < 0) {
        if !changed.iter().any(|piece| piece.literals == gone.literals) {
            changed.push(gone);
        }
    }
    changed
}

/// What identifies an item across the two versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ItemName {
    Named(&'static str, String),
    /// Implementations and macro calls have no name and act by being there.
    Anonymous(String),
}

impl ItemName {
    fn has_effect_by_existing(&self) -> bool {
        matches!(self, Self::Anonymous(_))
    }
}

fn items(file: &syn::File) -> BTreeMap<ItemName, &syn::Item> {
    use syn::Item;
    let mut items = BTreeMap::new();
    for item in &file.items {
        let name = match item {
            Item::Use(_) | Item::ExternCrate(_) => continue,
            Item::Macro(call) if is_criterion_list(call) => continue,
            Item::Fn(item) => ItemName::Named("fn", item.sig.ident.to_string()),
            Item::Const(item) => ItemName::Named("const", item.ident.to_string()),
            Item::Static(item) => ItemName::Named("static", item.ident.to_string()),
            Item::Struct(item) => ItemName::Named("type", item.ident.to_string()),
            Item::Enum(item) => ItemName::Named("type", item.ident.to_string()),
            Item::Union(item) => ItemName::Named("type", item.ident.to_string()),
            Item::Type(item) => ItemName::Named("type", item.ident.to_string()),
            Item::Trait(item) => ItemName::Named("trait", item.ident.to_string()),
            Item::Mod(item) => ItemName::Named("mod", item.ident.to_string()),
            Item::Macro(syn::ItemMacro {
                ident: Some(ident), ..
            }) => ItemName::Named("macro", ident.to_string()),
            other => ItemName::Anonymous(tokens(other)),
        };
        items.insert(name, item);
    }
    items
}

fn is_criterion_list(call: &syn::ItemMacro) -> bool {
    let name = call
        .mac
        .path
        .segments
        .last()
        .map(|segment| segment.ident.to_string());
    matches!(name.as_deref(), Some("criterion_group" | "criterion_main"))
}

fn function(item: &syn::Item) -> Option<&syn::ItemFn> {
    match item {
        syn::Item::Fn(function) => Some(function),
        _ => None,
    }
}

/// Everything of a function but its body and documentation.
fn signature(function: &syn::ItemFn) -> String {
    let attributes = function
        .attrs
        .iter()
        .filter(|attribute| !attribute.path().is_ident("doc"))
        .map(tokens);
    format!("{}{}", attributes.collect::<String>(), tokens(&function.sig))
}

fn tokens(syntax: &impl ToTokens) -> String {
    without_docs(syntax.to_token_stream()).to_string()
}

/// Drops `#[doc = "..."]`, which is what a documentation comment is to the parser.
fn without_docs(stream: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_doc = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '#')
            && matches!(trees.peek(), Some(TokenTree::Group(group)) if group.stream().to_string().starts_with("doc ="));
        if is_doc {
            trees.next();
            continue;
        }
        kept.push(match tree {
            TokenTree::Group(group) => TokenTree::Group(proc_macro2::Group::new(
                group.delimiter(),
                without_docs(group.stream()),
            )),
            other => other,
        });
    }
    kept.into_iter().collect()
}

fn piece(file: &str, syntax: &(impl ToTokens + Spanned)) -> ChangedPiece {
    let mut literals = BTreeSet::new();
    collect_literals(syntax.to_token_stream(), &mut literals);
    ChangedPiece {
        file: file.to_owned(),
        line: u32::try_from(syntax.span().start().line).unwrap_or(1),
        literals: literals.into_iter().collect(),
        run_file: false,
    }
}

fn collect_literals(stream: TokenStream, literals: &mut BTreeSet<String>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => collect_literals(group.stream(), literals),
            TokenTree::Literal(literal) => literals.extend(string_value(&literal)),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn string_value(literal: &Literal) -> Option<String> {
    syn::parse_str::<syn::LitStr>(&literal.to_string())
        .ok()
        .map(|text| text.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
        use criterion::*;
        const N: usize = 10;
        fn helper(n: usize) -> usize { n + 1 }
        fn benches(c: &mut Criterion) {
            c.bench_function("a", |b| b.iter(|| helper(N)));
            let mut g = c.benchmark_group("g");
            g.bench_function("x", |b| b.iter(|| 1));
            g.finish();
        }
        criterion_group!(all, benches);
        criterion_main!(all);
    "#;

    fn changes(head: &str) -> Vec<(u32, Vec<String>)> {
        let sources = |text: &str| Sources::from([("benches/b.rs".to_owned(), text.to_owned())]);
        changed_pieces(&sources(BASE), &sources(head))
            .into_iter()
            .map(|piece| (piece.line, piece.literals))
            .collect()
    }

    #[test]
    fn comments_formatting_and_lists_do_not_count() {
        let head = BASE
            .replace("const N", "/// How many.\n const N")
            .replace(
                "use criterion::*;",
                "use criterion::{Criterion, criterion_group, criterion_main};",
            )
            .replace("g.finish();", "g.finish(); // done")
            .replace(
                "criterion_group!(all, benches)",
                "criterion_group!(all, benches, more)",
            );
        assert_eq!(changes(&head), []);
    }

    #[test]
    fn an_added_benchmark_names_itself() {
        let head = BASE.replace(
            "g.finish();",
            "g.bench_function(\"y\", |b| b.iter(|| 2)); g.finish();",
        );
        assert_eq!(changes(&head), [(9, vec!["y".to_owned()])]);
    }

    #[test]
    fn a_changed_statement_names_the_benchmark_it_registers() {
        assert_eq!(
            changes(&BASE.replace("helper(N)", "helper(N + 1)")),
            [(6, vec!["a".to_owned()])]
        );
    }

    #[test]
    fn a_changed_constant_or_helper_is_a_piece_that_names_nothing() {
        assert_eq!(changes(&BASE.replace("= 10", "= 11")), [(3, vec![])]);
        assert_eq!(changes(&BASE.replace("n + 1", "n + 2")), [(4, vec![])]);
    }

    #[test]
    fn an_added_function_or_constant_changes_nothing_by_itself() {
        assert_eq!(
            changes(&BASE.replace(
                "const N",
                "fn more(c: &mut Criterion) {} const M: usize = 3; const N"
            )),
            []
        );
    }

    #[test]
    fn an_added_implementation_does() {
        let changes = changes(&BASE.replace(
            "const N",
            "impl Clone for Thing { fn clone(&self) -> Self { Thing } } const N",
        ));
        assert_eq!(changes.len(), 1);
    }

    #[test]
    fn data_and_unparsable_source_are_one_piece() {
        let sources = |name: &str, text: &str| Sources::from([(name.to_owned(), text.to_owned())]);
        let whole = |file: &str| {
            vec![ChangedPiece {
                file: file.to_owned(),
                line: 1,
                literals: Vec::new(),
                run_file: false,
            }]
        };
        assert_eq!(
            changed_pieces(&sources("d.bin", "1"), &sources("d.bin", "2")),
            whole("d.bin")
        );
        assert_eq!(
            changed_pieces(&sources("b.rs", "fn ("), &sources("b.rs", "fn ((")),
            whole("b.rs")
        );
    }
}
