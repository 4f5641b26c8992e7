//! Reads an entry field by field as it stands in its line.
//!
//! What is derived for a tagged enum within another object copies every field before it knows the type, which is most
//! of the time that a long session takes to be read. A line begins with its time and its type, so what follows is read
//! where it stands; fields before them, which this host never writes, are kept until the type is known.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, VariantAccess, Visitor, value,
};
use serde_json::Value;

use crate::{Fact, Logged};

impl<'de> Deserialize<'de> for Logged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LoggedVisitor)
    }
}

struct LoggedVisitor;

impl<'de> Visitor<'de> for LoggedVisitor {
    type Value = Logged;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry of a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Logged, A::Error> {
        let (mut time, mut kind) = (None, None);
        let mut before = VecDeque::new();
        while time.is_none() || kind.is_none() {
            match map.next_key::<Text<'de>>()? {
                Some(Text(key)) if key == "time" && time.is_none() => time = Some(map.next_value()?),
                Some(Text(key)) if key == "type" && kind.is_none() => kind = Some(map.next_value::<Text<'de>>()?.0),
                Some(Text(key)) => before.push_back((key.into_owned(), map.next_value::<Value>()?)),
                None => break,
            }
        }
        let time = time.ok_or_else(|| A::Error::missing_field("time"))?;
        let kind = kind.ok_or_else(|| A::Error::missing_field("type"))?;
        let fields = Fields { before, value: None, map };
        let fact = Fact::deserialize(Tagged { kind, fields })?;
        Ok(Logged { time, fact })
    }
}

/// A text, borrowed from the line where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fields of an entry, without its time and type.
struct Fields<A> {
    before: VecDeque<(String, Value)>,
    /// The value of the key that was read last, if it is one of those before.
    value: Option<Value>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.before.pop_front() {
            Some((key, value)) => {
                self.value = Some(value);
                Key(seed).deserialize(value::StringDeserializer::new(key)).map(Some)
            }
            None => self.map.next_key_seed(Key(seed)),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

/// A key that follows the time and the type, of which an entry has one each.
struct Key<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Key<K> {
    type Value = K::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<K::Value, E> {
        match key {
            "time" => Err(E::duplicate_field("time")),
            "type" => Err(E::duplicate_field("type")),
            key => self.0.deserialize(key.into_deserializer()),
        }
    }
}

/// An entry as its enum is read: the variant by the type, and the fields from the same object.
struct Tagged<'de, A> {
    kind: Cow<'de, str>,
    fields: Fields<A>,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Tagged<'de, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Tagged<'de, A> {
    type Error = A::Error;
    type Variant = Variant<A>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Variant<A>), A::Error> {
        let kind: CowStrDeserializer<'de, A::Error> = self.kind.into_deserializer();
        Ok((seed.deserialize(kind)?, Variant(self.fields)))
    }
}

struct Variant<A>(Fields<A>);

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Variant<A> {
    type Error = A::Error;

    fn unit_variant(mut self) -> Result<(), A::Error> {
        while self.0.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        seed.deserialize(MapAccessDeserializer::new(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }
}
